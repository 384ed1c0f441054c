"""Whose allocation it is: each default rule, rules of the user, and the symbols of CPython."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

import harness.driver
import harness.source
from harness.owners import Owners, owner_by_symbols

PATHS = sysconfig.get_paths()
DRIVER = ("_run_step", harness.driver.__file__, 90)
BACKEND = ("execute", "/user/backend.py", 12)
HELPER = ("helper", "/user/helper.py", 3)
TORCH = ("conv2d", f"{PATHS['purelib']}/torch/functional.py", 5)
CALL = ("_call_impl", f"{PATHS['purelib']}/torch/nn/modules/module.py", 1500)
FORWARD = ("forward", "/user/model.py", 30)
STDLIB = ("put", f"{PATHS['stdlib']}/queue.py", 140)
SOURCE = ("_fresh_copy", harness.source.__file__, 62)


def owner_and_line(*stack, extra=(), root="") -> tuple[str, str, int]:
    """Of a stack given outermost frame first."""
    site = Owners(extra, root).site(tuple(reversed(stack)))
    return site.owner, Path(site.file).name, site.line


@pytest.mark.parametrize(
    ("stack", "expected"),
    [
        # the user's code
        ((DRIVER, BACKEND), ("backend", "backend.py", 12)),
        ((DRIVER, BACKEND, HELPER), ("backend", "helper.py", 3)),
        ((BACKEND,), ("backend", "backend.py", 12)),
        # a library acts for whoever called it
        ((DRIVER, BACKEND, TORCH), ("backend", "backend.py", 12)),
        ((DRIVER, BACKEND, STDLIB), ("backend", "backend.py", 12)),
        ((DRIVER, STDLIB), ("harness", "driver.py", 90)),
        (
            (DRIVER, BACKEND, ("f", "<frozen importlib._bootstrap>", 1)),
            ("backend", "backend.py", 12),
        ),
        ((DRIVER, BACKEND, ("f", "<string>", 1)), ("backend", "<string>", 1)),
        # the measurement
        ((DRIVER,), ("harness", "driver.py", 90)),
        ((DRIVER, SOURCE), ("source", "source.py", 62)),
        ((DRIVER, BACKEND, DRIVER), ("harness", "driver.py", 90)),
        # a model, whoever wrote its lines
        ((DRIVER, BACKEND, CALL, FORWARD), ("model", "model.py", 30)),
        ((DRIVER, BACKEND, CALL, FORWARD, TORCH), ("model", "model.py", 30)),
        ((DRIVER, BACKEND, CALL, TORCH), ("model", "backend.py", 12)),
        ((DRIVER, BACKEND, CALL, FORWARD, CALL, TORCH), ("model", "model.py", 30)),
        ((DRIVER, BACKEND, CALL, FORWARD, BACKEND), ("model", "backend.py", 12)),
        ((DRIVER, BACKEND, ("_call_impl", "/user/own.py", 9)), ("backend", "own.py", 9)),
        # a thread of somebody's
        ((STDLIB,), ("runtime", "queue.py", 140)),
        ((STDLIB, BACKEND), ("backend", "backend.py", 12)),
        ((), ("runtime", "<no Python frame>", 0)),
    ],
)
def test_default_rules(stack, expected) -> None:
    site = Owners().site(tuple(reversed(stack)))
    name = Path(site.file).name
    assert (site.owner, name, site.line) == expected
    assert site.stack == tuple(reversed(stack))


def test_a_backend_in_site_packages_is_the_backend() -> None:
    installed = ("run", f"{PATHS['purelib']}/installed/core.py", 4)
    root = f"{PATHS['purelib']}/installed/"
    assert owner_and_line(DRIVER, installed, root=root) == ("backend", "core.py", 4)
    assert owner_and_line(DRIVER, BACKEND, installed) == ("backend", "backend.py", 12)


@pytest.mark.parametrize("folder", ["/user [old]", "/user*", "/us?r", "/a b"])
def test_a_folder_may_have_any_name(folder: str) -> None:
    inside = ("run", f"{PATHS['purelib']}{folder}/core.py", 4)
    root = f"{PATHS['purelib']}{folder}/"
    assert owner_and_line(DRIVER, inside, root=root) == ("backend", "core.py", 4)
    sibling = ("run", f"{PATHS['purelib']}/user-other/core.py", 4)
    assert owner_and_line(DRIVER, sibling, root=root)[0] == "harness"


def test_rules_of_the_user_come_first_and_in_order() -> None:
    rules = [("model", "*/helper.py"), ("runtime", "/user/*")]
    assert owner_and_line(DRIVER, BACKEND, HELPER, extra=rules)[0] == "model"
    assert owner_and_line(DRIVER, BACKEND, extra=rules)[0] == "runtime"
    assert owner_and_line(DRIVER, BACKEND, HELPER, extra=rules[::-1])[0] == "runtime"


def test_a_rule_may_name_a_function() -> None:
    rules = [("model", "*/helper.py:helper")]
    assert owner_and_line(DRIVER, BACKEND, HELPER, extra=rules)[0] == "model"
    other = ("other", HELPER[1], 9)
    assert owner_and_line(DRIVER, BACKEND, other, extra=rules)[0] == "backend"


def test_a_rule_of_the_user_takes_lines_out_of_a_model() -> None:
    rules = [("decoder", "*/helper.py")]
    stack = (DRIVER, BACKEND, CALL, FORWARD, HELPER)
    assert owner_and_line(*stack, extra=rules) == ("decoder", "helper.py", 3)
    assert owner_and_line(*stack) == ("model", "helper.py", 3)


def test_a_user_may_call_a_library_the_model() -> None:
    rules = [("model", "*/torch/*")]
    stack = (DRIVER, BACKEND, TORCH)
    assert owner_and_line(*stack, extra=rules)[0] == "model"


SCRIPT = "torch::jit::runAndInsertCall(torch::jit::Function&, torch::jit::tuple_slice const&)"


@pytest.mark.parametrize(
    ("symbols", "owner"),
    [
        (["_PyObject_Malloc", "_PyCode_CreateLineArray"], "interpreter"),
        # nobody's: when pymalloc needs one more is up to what the process was forked with
        (["_PyObject_ArenaMmap", "new_arena"], "harness"),
        (["push_chunk"], "interpreter"),
        (["__cxa_thread_atexit_impl", "__cxa_thread_atexit", "at::get_tls()"], "interpreter"),
        (["malloc", "operator new(unsigned long)", "at::empty"], None),
        (["malloc", *["at::add"] * 30, SCRIPT, "_PyEval_EvalFrameDefault"], "model"),
        (["new_arena", SCRIPT], "harness"),
        # what merely runs because the interpreter took an arena is no part of it
        ([*["f"] * 8, "new_arena"], None),
        (["list_resize"], None),
        ([], None),
    ],
)
def test_owners_that_symbols_tell(symbols: list[str], owner: str | None) -> None:
    assert owner_by_symbols([(symbol, "python", 0) for symbol in symbols]) == owner


@pytest.mark.parametrize(
    ("stack", "where"),
    [
        ((BACKEND,), "/user/backend.py:12 in execute"),
        ((), "<no Python frame>"),
    ],
)
def test_where_is_for_people(stack, where: str) -> None:
    assert Owners().site(stack).where == where
