"""Imports inside harness go one way: what lies above what, as a table.

An import counts wherever it is written, in a function too; only those for type checkers do not.
What a module reaches is what it imports, and what that imports, and so on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "harness").rglob("*.py"))

PARENT = ("isolate", "zygotes", "verify", "verify_soak", "batch", "judge", "beside", "selftest")
"""what starts processes and judges what they leave: never in the process that is measured"""
SURFACE = ("cli", "arguments", "commands", "completion", "cases", "pytest_plugin", "block", "bench")
"""what people call"""

NEVER_REACHES: dict[str, tuple[str, ...]] = {
    # Nothing of ours: they are read in the process that is measured, and by everybody else.
    "errors": ("*",),
    "names": ("*",),
    "words": ("*",),
    "probes": ("*",),
    # Plain data, which child and parent exchange.
    "result": ("*",),
    "workload": ("*", "-errors"),
    "flight": ("*", "-result"),
    "inject.points": ("*", "-result"),
    # Pure functions of a timeline: they start nothing, measure nothing and print nothing.
    "rules": (*PARENT, *SURFACE, "report", "gate", "watch", "child", "instruments"),
    "timeline": (*PARENT, *SURFACE, "report", "gate", "watch", "child", "instruments", "rules"),
    # The process that is measured. A fork of a test process has its factory from zygotes.
    "instruments": (*PARENT, *SURFACE, "report", "gate", "watch", "child", "rules", "config"),
    "child": (
        *(module for module in PARENT if module != "zygotes"),
        *SURFACE,
        "report",
        "gate",
        "watch",
        "rules",
        "config",
    ),
    # They show what there is.
    "report": (*PARENT, *SURFACE, "child", "instruments", "doctor", "driver"),
    "completion": (*PARENT, "child", "instruments", "report.terminal", "arguments", "cli"),
    # What they hold against each other is data. Measuring is for gate.measure, gate.gate.
    "gate.compare": (*PARENT, *SURFACE, "child", "instruments"),
    "gate.counts": (*PARENT, *SURFACE, "child", "instruments"),
    "gate.merge": (*PARENT, *SURFACE, "child", "instruments"),
    "config": (*PARENT, *SURFACE, "child", "instruments"),
    # A process that can't be instrumented is watched without any of that.
    "watch": (*PARENT, *SURFACE, "child", "instruments", "probes", "rules", "timeline", "gate"),
    # Callers of verify, as others are.
    "verify": (*SURFACE, "gate", "watch", "selftest", "doctor", "config"),
    "isolate": (*SURFACE, "report", "gate", "watch", "verify", "judge", "rules", "config"),
    "gate": (*SURFACE,),
}
"""from a package or module to what it must not reach: `*` is all the rest, `-` leaves out of it"""

ONLY_BY: dict[str, tuple[str, ...]] = {
    "cli": ("__main__",),
    "arguments": ("cli", "commands.completion"),
    # The bench is a command of its own, with the exit codes of all.
    "commands": ("__main__", "cli", "arguments", "completion", "bench"),
    "completion": ("commands.completion",),
    "instruments": ("child", "inject.cycles"),
    "inject.hooks": ("instruments", "inject.cycles"),
    "inject.cycles": ("instruments",),
    "pytest_plugin": (),
    "strategies": (),
    "bench": (),
}
"""from a package or module to all, outside of it, that may import it"""

CYCLES = {
    # The parser is made of the commands, and one of them prints what is in the parser.
    frozenset({"arguments", "commands", "commands.completion"}),
    # A zygote forks children, and a child that was forked from a test process finds its factory
    # where that process left it.
    frozenset({"adapt", "child", "inherited", "zygote"}),
    frozenset({"block_report", "block_session"}),
}
"""modules that import each other, all but the first import of each being in a function"""


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "harness").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


@cache
def imported(module: str) -> frozenset[str]:
    """The modules of harness that a module imports, without `harness.` before them."""
    tree = ast.parse(MODULES[module].read_text())
    return frozenset(name for node in _running(tree) for name in _names(node)) - {module}


def _running(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from _running(node)


def _names(node: ast.AST) -> Iterator[str]:
    found: list[str] = []
    if isinstance(node, ast.Import):
        found = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        # `from harness.report import files` imports a module, `from harness.errors import X` none.
        found = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in found:
        top, _, rest = name.partition(".")
        if top == "harness":
            yield rest if rest in MODULES else rest.rpartition(".")[0]


@cache
def reached(module: str) -> dict[str, str]:
    """Each module that a module reaches, with the one that imports it on the way."""
    found: dict[str, str] = {}
    waiting = [module]
    while waiting:
        here = waiting.pop()
        for name in imported(here) - set(found):
            found[name] = here
            waiting.append(name)
    return found


def inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def way(module: str, to: str) -> str:
    """How a module reaches another, for a message."""
    steps, by = [to], reached(module)
    while steps[-1] != module:
        steps.append(by[steps[-1]])
    return " -> ".join(reversed(steps))


@pytest.mark.parametrize("package", NEVER_REACHES)
def test_nothing_reaches_what_lies_above_it(package: str) -> None:
    forbidden = NEVER_REACHES[package]
    allowed = (package, *(name[1:] for name in forbidden if name.startswith("-")))
    members = [module for module in MODULES if inside(module, package)]
    for module in members:
        for name in reached(module):
            if not any(inside(name, one) for one in allowed):
                assert "*" not in forbidden, way(module, name)
                assert not any(inside(name, one) for one in forbidden), way(module, name)


@pytest.mark.parametrize("package", ONLY_BY)
def test_nothing_else_imports_it(package: str) -> None:
    for module in MODULES:
        if not inside(module, package):
            for name in imported(module):
                if name and inside(name, package):
                    assert any(inside(module, by) for by in ONLY_BY[package]), (module, name)


def test_modules_import_each_other_only_where_it_is_said() -> None:
    found = {
        frozenset({module, *(name for name in reached(module) if module in reached(name))})
        for module in MODULES
        if module in reached(module)
    }
    assert found == CYCLES


def test_every_name_in_the_tables_is_there() -> None:
    """A module that is renamed must not drop out of the tables in silence."""
    named = {*NEVER_REACHES, *ONLY_BY, *PARENT, *SURFACE}
    named.update(name.lstrip("-") for names in NEVER_REACHES.values() for name in names)
    named.update(name for names in ONLY_BY.values() for name in names)
    assert named - {"*"} <= {*MODULES}
