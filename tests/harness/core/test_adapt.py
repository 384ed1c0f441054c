# ruff: noqa: ARG001, ARG005 - signatures are given
"""Backends made of whatever a target names."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.frame import Frame
from harness.adapt import FunctionBackend, load, open_backend, root_of
from harness.errors import UsageError

FRAME = Frame(np.zeros((4, 6, 3), np.uint8), pts=5)


class Complete:
    def __init__(self, size: int = 1) -> None:
        self.size = size

    def execute(self, frame: Any) -> None: ...
    def get_result(self) -> Any: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...


class CallsWithClose:
    closed = 0

    def __call__(self, frame: Any) -> Any:
        return frame.pts

    def close(self) -> None:
        self.closed += 1


def function(frame: Any) -> Any:
    return frame.pts


def function_with_options(frame: Any, gain: int = 2) -> Any:
    return frame.pts * gain


def factory() -> Any:
    return Complete()


def factory_with_options(size: int = 3, *, name: str = "x") -> Any:
    return Complete(size)


def factory_of_a_function(gain: int = 2) -> Any:
    return lambda frame: frame.pts * gain


def result_of(target: Any, **options: Any) -> Any:
    backend = open_backend(target, options)
    backend.execute(FRAME)
    return backend.get_result()


def test_a_function_of_a_frame_is_a_backend() -> None:
    assert result_of(function) == 5
    assert result_of(function_with_options) == 10
    assert result_of(functools.partial(function_with_options, gain=3)) == 15


def test_a_factory_may_make_a_function() -> None:
    assert result_of(factory_of_a_function) == 10
    assert result_of(factory_of_a_function, gain=4) == 20
    assert result_of(CallsWithClose) == 5


def test_a_factory_takes_options() -> None:
    assert open_backend(factory_with_options, {"size": 7, "name": "y"}).size == 7
    assert open_backend(functools.partial(factory_with_options, 8), {}).size == 8
    assert open_backend(Complete, {}).size == 1
    assert open_backend(Complete, {"size": 2}).size == 2
    assert isinstance(open_backend(factory, {}), Complete)


@pytest.mark.parametrize(
    ("target", "options", "says"),
    [
        (factory, {"size": 3}, "size"),
        (factory_with_options, {"sise": 3}, r"takes \(size=.*'sise': did you mean 'size'\?"),
        (function, {"gain": 3}, "frame"),
    ],
)
def test_an_option_that_the_factory_does_not_take_is_bad_usage(target, options, says) -> None:
    with pytest.raises(UsageError, match=says):
        open_backend(target, options)


def test_a_type_error_inside_a_factory_is_the_backends() -> None:
    def broken() -> Any:
        return len(3)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        open_backend(broken, {})


def test_results_come_in_order_and_close_closes_the_function() -> None:
    made = CallsWithClose()
    backend = FunctionBackend(made)
    for pts in range(3):
        backend.execute(Frame(FRAME.data, pts=pts))
    backend.flush()
    assert [backend.get_result() for _ in range(4)] == [0, 1, 2, None]
    backend.close()
    backend.close()
    assert made.closed == 1


def test_a_function_may_return_none() -> None:
    backend = FunctionBackend(lambda frame: None)
    backend.execute(FRAME)
    backend.execute(FRAME)
    results = 0
    while backend.get_result() is not None:
        results += 1
    assert results == 2


def test_load_finds_nested_attributes_and_refuses_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "some target.py"
    file.write_text("class A:\n    @staticmethod\n    def f(frame): return 7\nnumber = 3\n")
    assert load(f"{file}:A.f")(None) == 7
    assert load("os.path:join") is sys.modules["os.path"].join
    for target, says in (
        (f"{file}:A.g", "no attribute 'g': choose from f"),
        (f"{file}:a", "no attribute 'a': did you mean 'A'"),
        (f"{file}:number", "is a int"),
        ("not_a_module_at_all:f", "there is no module 'not_a_module_at_all'"),
        ("os.not_there:f", "there is no module 'os.not_there'"),
        ("no colon", "is not of the form"),
        (f"{tmp_path}/absent.py:f", "there is no file"),
    ):
        with pytest.raises(UsageError, match=says):
            load(target)


def test_a_mistyped_module_is_told_one_of_the_folder_or_a_scheme(tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.py").touch()
    monkeypatch.chdir(tmp_path)
    for target, meant in (("mnie:f", "mine"), ("libavfiltr:hflip", "libavfilter")):
        with pytest.raises(UsageError, match=f"did you mean '{meant}'"):
            load(target)


def test_a_file_that_another_module_of_its_name_hides_is_told(tmp_path, monkeypatch) -> None:
    (tmp_path / "json").mkdir()
    (tmp_path / "json/decoder.py").write_text("def open_mine(): ...")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"'open_mine': json/decoder\.py:open_mine names yours"):
        load("json.decoder:open_mine")


def test_the_root_is_the_package_or_the_file(tmp_path: Path) -> None:
    import xml.dom.minidom

    assert root_of(xml.dom.minidom.parse) == str(Path(xml.__file__).parent) + "/"
    file = tmp_path / "some.target.py"
    file.write_text("import functools\ndef f(frame): return 7\ng = functools.partial(f, 3)\n")
    assert root_of(load(f"{file}:f")) == str(file)
    assert root_of(load(f"{file}:g")) == str(file)
