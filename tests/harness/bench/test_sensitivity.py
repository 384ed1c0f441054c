"""The sensitivity bench: a tool's answer is what the tool says, and the least leak is searched."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.bench import sensitivity
from harness.bench.chart import Line, chart


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
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(sensitivity, "PLOT", tmp_path / "reports" / "plot.svg")

    def run_with(tool: sensitivity.Tool) -> tuple[int, str]:
        monkeypatch.setattr(sensitivity, "steadyframe", tool)
        return sensitivity.main(), capsys.readouterr().out

    return run_with


def test_the_table_and_the_plot_have_each_number_of_frames(run: Any) -> None:
    code, shown = run(Fake(960))
    assert code == 0
    assert "psleak: missing; pip install" in shown
    assert "pytest-memray: missing; pip install" in shown
    rows = [line.split() for line in shown.splitlines() if line.startswith("steadyframe")]
    assert [int(row[1]) for row in rows] == list(sensitivity.FRAMES)
    assert rows[0][2:] == ["16", "bytes", "1", "frame"]
    assert rows[-1][2:] == ["1", "byte", "16", "frames"]
    assert ElementTree.fromstring(sensitivity.PLOT.read_text()).tag.endswith("svg")


def test_a_false_alarm_is_said_and_fails(run: Any) -> None:
    code, shown = run(Fake(0))
    assert code == 1
    assert shown.count("FALSE ALARM") == len(sensitivity.FRAMES)


def test_a_tool_that_finds_nothing_is_shown(run: Any) -> None:
    code, shown = run(Fake(10**9))
    assert code == 0
    assert shown.count("none found") == 2 * len(sensitivity.FRAMES)


def test_a_chart_has_a_point_for_each_number_and_a_name_for_each_line() -> None:
    drawn = chart(("Title & more", [Line("a", [(1, 4), (100, 1)]), Line("b<c", [])]))
    root = ElementTree.fromstring(drawn)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{space}circle")) == 2
    texts = [element.text for element in root.iter(f"{space}text")]
    assert {"Title & more", "a", "b<c: none", "100", "4"} <= set(texts)
