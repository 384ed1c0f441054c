"""The backend section: a row for each contestant of each case, from what was measured."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from backend.frame import Frame
from harness.bench import contestants, peak, runtimes, speed
from harness.bench.section import Section
from harness.bench.speed import Case, Measured

CASE = Case("espcn", 1, (16, 16))


def measured(*turns: float) -> Measured:
    return Measured(list(turns), 0.0, 0, 0)


@pytest.fixture
def section(monkeypatch: pytest.MonkeyPatch) -> Section:
    monkeypatch.setattr(speed, "MODELS", ("espcn",))
    monkeypatch.setattr(speed, "SIZES", (CASE.size,))
    monkeypatch.setattr(speed, "THREADS", (1,))
    monkeypatch.setattr(speed, "TURN_S", 0.0)
    monkeypatch.setattr(runtimes, "open_runtime", lambda *_: None)
    monkeypatch.setattr(peak, "peaks", lambda name, *_: [100 if name == "planned" else 1000])
    return speed.measure(1, lambda _: None)


def test_every_contestant_has_a_row_and_a_missing_one_says_so(section: Section) -> None:
    rows = {str(row[3]): row for row in section.rows}
    assert list(rows) == list(contestants.CONTESTANTS)
    assert rows["openvino"][4:] == ["missing"] * 7
    assert all(len(row) == len(section.columns) for row in section.rows)


def test_allocations_are_counted(section: Section) -> None:
    counts = {row[3]: row[7] for row in section.rows}
    assert counts["planned"] == 0
    assert all(isinstance(counts[name], int) for name in contestants.TORCH)
    assert all(int(counts[name]) > 100 for name in contestants.TORCH)


def test_speed_is_by_the_best_of_torch_in_the_same_turn() -> None:
    found = {
        "naive": measured(2, 20),
        "eager": measured(1, 40),
        "script": measured(4, 40),
        "planned": measured(1, 10),
    }
    assert speed.by_best_torch(found, "planned") == 1.5
    target = speed._speed_target({CASE: found})
    assert (target.figure, target.met) == (1.5, True)
    assert not speed._speed_target({CASE: found | {"planned": measured(2, 40)}}).met


def test_the_memory_target_is_of_the_worst_case() -> None:
    other = Case("dncnn", 1, (16, 16))
    peaks = {("planned", CASE): 1, ("eager", CASE): 10, ("planned", other): 6, ("eager", other): 10}
    target = speed._memory_target(peaks)
    assert (target.figure, target.at, target.met) == (0.6, "dncnn 16x16, 1 thread", False)


def test_a_runtime_that_is_not_installed_is_no_contestant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert contestants.open_one("openvino", "espcn", 16, 16, 1) is None


def test_a_contestant_that_computes_something_else_is_refused() -> None:
    with contestants.opened("espcn", 16, 16, 1) as there:
        frame = Frame(np.zeros((16, 16), np.uint8), "gray8")
        contestants.check_agreement(there, frame)
        other = contestants.Contestant(lambda _: np.zeros((32, 32), np.uint8), lambda: None, 1)
        with pytest.raises(RuntimeError, match="result of other"):
            contestants.check_agreement(there | {"other": other}, frame)


def test_peaks_are_those_of_a_process_of_its_own() -> None:
    small, large = peak.peaks("eager", "espcn", 1, [(16, 16), (320, 240)])
    # Two layers of 64 and 32 channels in float32 are there at once.
    assert large > 320 * 240 * 4 * (64 + 32)
    assert small < large
