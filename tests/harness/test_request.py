"""What no run could be asked for is bad usage, and never told as the backend's failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.batch import verify_batch
from harness.contract import Contract
from harness.errors import UsageError
from harness.request import blank_report, request
from harness.verify import verify

WORKLOAD = "8x8@25*10"
OWNERS = 'a list of (owner, glob): [("model", "*/nets/*")]'


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
        ({"level": "zero_growth"}, "no level 'zero_growth': did you mean 'zero-growth'?"),
        ({"level": 7}, "there is no level 7: choose from zero-growth, zero-owned, zero-malloc"),
        ({"cycles": "3"}, "cycles '3' is not a whole number of 1 or more"),
        ({"cycles": 0}, "cycles 0 is not a whole number of 1 or more"),
        ({"cycles": True}, "cycles True is not a whole number of 1 or more"),
        ({"seed": "1"}, "seed '1' is not a whole number of 0 or more"),
        ({"warmup": -1}, "warmup -1 is not a whole number of 0 or more"),
        ({"warmup": "8"}, "warmup '8' is not a whole number of 0 or more"),
        ({"owners": "model=x"}, f"owners 'model=x' is not {OWNERS}"),
        ({"owners": 3}, f"owners 3 is not {OWNERS}"),
        ({"owners": [3]}, f"owners [3] is not {OWNERS}"),
        ({"owners": [("model", 3)]}, f"owners [('model', 3)] is not {OWNERS}"),
        ({"options": {"model": object()}}, "type object is unsupported"),
        ({"options": {"path": "b\udcff"}}, "'b\\udcff' is not UTF-8: give it another name"),
        ({"options": "nireq"}, "options 'nireq' is not a dict by name: {\"nireq\": 4}"),
        ({"options": {3: 4}}, "options {3: 4} is not a dict by name"),
        ({"methods": ["infer"]}, "methods ['infer'] is not a dict by name"),
        ({"methods": {"run": "x"}}, "'run' is no method of a backend: map execute, "),
        ({"methods": {"execute": 3}}, "Expected `str`, got `int` - at `$.methods"),
        ({"timeout": "60"}, "timeout '60' is not a number of seconds above 0"),
        ({"timeout": 0}, "timeout 0 is not a number of seconds above 0"),
        ({"timeout": float("nan")}, "timeout nan is not a number of seconds above 0"),
        ({"video": 3}, "video 3 is not a path"),
        ({"progress": 3}, "progress 3 is not a function to call"),
    ],
)
def test_a_value_that_is_none_is_bad_usage(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        verify(open_backend, WORKLOAD, quick=True, **given)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_report_says_which_video_and_options_were_asked_for() -> None:
    spec = request(
        "a:b", None, video=Path("clip.mp4"), cycles=3, seed=0, options={"nireq": 4},
        stateful=False, timeout=60.0, memory_limit=None,
    )  # fmt: skip
    report = blank_report(spec, "a:b", Contract("zero-owned"), "again")
    assert report.video == str(Path.cwd() / "clip.mp4")
    assert report.options == {"nireq": 4}


def test_workloads_of_a_batch_are_a_list() -> None:
    with pytest.raises(UsageError, match="workloads '8x8@25\\*10' is not a list"):
        verify_batch(open_backend, WORKLOAD)


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
