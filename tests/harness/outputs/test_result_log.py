"""The log of results, and how the driver hands them over: nothing is kept, nothing is lost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from backend.frame import Frame
from harness.driver import Driver
from harness.flight import FlightRecorder
from harness.plan import plan_steps
from harness.result_log import Event, ResultLog, read_log
from harness.source import synthetic_source
from harness.workload import Workload


def test_rows_are_read_back_by_group(tmp_path: Path) -> None:
    log = ResultLog(tmp_path / "log", groups=3, room=4)
    log.result(Frame(np.zeros((2, 2, 3), np.uint8), pts=-7), 5)
    log.result(object(), 6)
    log.begin(2)
    log.raised(Event.REFUSED, ValueError("no\nsecond line"), 8)
    log.none(9)
    first, empty, last = read_log(tmp_path / "log")
    assert [(r.event, r.frame, r.pts) for r in first.rows] == [
        (Event.RESULT, 5, -7),
        (Event.INCOMPARABLE, 6, None),
    ]
    assert (first.count, empty.rows, empty.count) == (2, [], 0)
    assert [(r.event, r.text) for r in last.rows] == [
        (Event.REFUSED, "ValueError: no"),
        (Event.NONE, ""),
    ]


def test_what_finds_no_room_is_counted(tmp_path: Path) -> None:
    log = ResultLog(tmp_path / "log", groups=2, room=2)
    for number in range(5):
        log.result(np.array([number]), number)
    first, second = read_log(tmp_path / "log")
    assert ([row.frame for row in first.rows], first.count) == ([0, 1], 5)
    assert second.count == 0
    log.begin(0)
    assert read_log(tmp_path / "log")[0].count == 0


def test_long_and_odd_texts_are_cut(tmp_path: Path) -> None:
    log = ResultLog(tmp_path / "log", groups=1, room=2)
    log.raised(Event.ERROR, ValueError("ä" * 1000), 0)
    log.raised(Event.ERROR, ValueError("\ud800"), 1)
    texts = [row.text for row in read_log(tmp_path / "log")[0].rows]
    assert texts[0].startswith("ValueError: ää")
    assert texts[1] == "ValueError: ?"


def test_no_file_is_no_log(tmp_path: Path) -> None:
    assert read_log(tmp_path / "log") == []


class Pooled:
    """Hands out one object again and again; it must be free each time."""

    def __init__(self) -> None:
        self._result = np.zeros(3)
        self._ready = 0
        self.held = 0

    def execute(self, frame: Any) -> None:  # noqa: ARG002
        self._ready += 1

    def get_result(self) -> Any:
        self.held = max(self.held, sys.getrefcount(self._result))
        if not self._ready:
            return None
        self._ready -= 1
        return self._result

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_the_driver_hands_over_each_result_and_holds_none(tmp_path: Path) -> None:
    workload = Workload.parse("8x8@100*10")
    steps = plan_steps(workload, 0, "rgb24")
    backend, taken = Pooled(), [0]

    def take(result: Any) -> None:
        assert result is backend._result
        taken[0] += 1

    recorder = FlightRecorder(tmp_path / "progress", create=True)
    source = synthetic_source(workload, "rgb24", 0)
    journal = [0] * len(steps)
    Driver(lambda: backend, source, steps, recorder, lambda: None, journal, 10, take).run_cycle(1)
    assert taken == [10]
    assert backend.held == 2  # its own reference, and that of the count's argument
