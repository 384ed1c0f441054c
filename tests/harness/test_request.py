"""What no run could be asked for is bad usage, and never told as the backend's failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.verify import verify

WORKLOAD = "8x8@25*10"


def open_backend() -> Callable[[Any], Any]:
    def infer(frame: Any) -> Any:
        return frame.data

    return infer


class NoFactory:
    """A backend itself."""

    def execute(self, frame: Any) -> None:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"level": "zero_growth"}, "there is no level 'zero_growth': choose of zero-growth, zero-"),
        ({"level": 7}, "there is no level 7"),
        ({"cycles": "3"}, "cycles '3' is not a whole number of 1 or more"),
        ({"cycles": 0}, "cycles 0 is not a whole number of 1 or more"),
        ({"seed": "1"}, "Expected `int`, got `str` - at `$.seed`"),
        ({"warmup": -1}, "warmup -1 is not a whole number of 0 or more frames"),
        ({"warmup": "8"}, "warmup '8' is not a whole number"),
        ({"options": {"model": object()}}, "type object is unsupported"),
        ({"options": {"path": "b\udcff"}}, "'b\\udcff' is not UTF-8: give it another name"),
    ],
)
def test_a_value_that_is_none_is_bad_usage(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        verify(open_backend, WORKLOAD, quick=True, **given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("given", [3, NoFactory(), None])
def test_what_is_no_factory_is_bad_usage(given: Any) -> None:
    with pytest.raises(
        UsageError, match=f"a {type(given).__name__} is no factory: give what makes"
    ):
        verify(given, WORKLOAD, quick=True)


def test_a_file_whose_name_is_no_utf8_is_bad_usage(tmp_path: Path) -> None:
    file = tmp_path / "b\udcff.py"
    file.write_text("def make():\n    return lambda frame: frame.data\n")
    with pytest.raises(UsageError, match="is not UTF-8: give it another name"):
        verify(f"{file}:make", WORKLOAD, quick=True)
