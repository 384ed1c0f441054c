"""The sensitivity bench: a tool's answer is what the tool says, and the least leak is searched."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.bench import sensitivity
from harness.bench.section import Section


@pytest.mark.parametrize(("least", "found"), [(1, 1), (16, 16), (5, 16), (4096, 4096)])
def test_the_least_that_is_found_is_searched(least: int, found: int) -> None:
    assert sensitivity.least_found(sensitivity.SIZES, lambda size: size >= least) == found


def test_none_may_be_found() -> None:
    assert sensitivity.least_found(sensitivity.SIZES, lambda size: size > 4096) is None
    assert sensitivity.least_found([], lambda _: True) is None


def test_what_is_ours_finds_a_byte_and_accuses_nobody() -> None:
    assert sensitivity.steadyframe(1, 1, 60)
    assert sensitivity.steadyframe(16, 16, 60)
    assert not sensitivity.steadyframe(16, 0, 60)


def test_a_failed_test_is_a_leak_only_if_it_says_so() -> None:
    assert sensitivity._failed("MemoryLeakError: it grows\n1 failed in 1 s", "MemoryLeakError")
    assert not sensitivity._failed("1 passed in 1 s", "MemoryLeakError")
    for said in ("1 failed in 1 s", "1 skipped in 1 s", "ERROR test_leak.py"):
        with pytest.raises(RuntimeError, match=said):
            sensitivity._failed(said, "MemoryLeakError")


def test_a_test_is_run_in_a_process_of_its_own() -> None:
    assert "1 passed" in sensitivity._pytest("def test():\n    pass\n", {})
    script = "import os\ndef test():\n    assert os.environ['WORD'] == 'other'\n"
    assert "1 failed" in sensitivity._pytest(script, {"WORD": "one"})


class Fake:
    """A tool that finds leaks from a number of bytes in all, or accuses everybody."""

    def __init__(self, least: int) -> None:
        self._least = least

    def __call__(self, size: int, every: int, frames: int) -> bool:
        lost = size * (frames // every) if every else 0
        return lost >= self._least


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[sensitivity.Tool], Section]:
    monkeypatch.setattr(sensitivity.optional, "remedy", lambda _: "pip install it")

    def run_with(tool: sensitivity.Tool) -> Section:
        monkeypatch.setattr(sensitivity, "steadyframe", tool)
        return sensitivity.measure(1, lambda _: None)

    return run_with


Run = Callable[[sensitivity.Tool], Section]


def test_the_table_has_each_number_of_frames_and_what_is_missing(run: Run) -> None:
    section = run(Fake(960))
    rows = [row for row in section.rows if row[0] == "steadyframe"]
    assert [row[1] for row in rows] == list(sensitivity.FRAMES)
    assert (rows[0][2:], rows[-1][2:]) == ([16, 1], [1, 16])
    assert [row[0] for row in section.rows if row[1] == "missing"] == ["psleak", "pytest-memray"]
    assert section.notes[0] == "psleak is missing: pip install it"


def test_a_false_alarm_is_said_and_misses_the_target(run: Run) -> None:
    section = run(Fake(0))
    assert all(row[2] == "FALSE ALARM" for row in section.rows if row[0] == "steadyframe")
    (target,) = section.targets
    assert (target.figure, target.met) == (len(sensitivity.FRAMES), False)


def test_a_tool_that_finds_nothing_is_shown(run: Run) -> None:
    section = run(Fake(10**9))
    assert section.rows[0][2:] == ["none found", "none found"]
    assert section.charts[0].lines[0].points == []
    assert section.targets[0].met
