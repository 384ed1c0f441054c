"""The driver: what it calls, in which order and how often, and the lag that it learns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from backend.frame import Frame
from harness import driver
from harness.driver import Driver
from harness.flight import FlightRecorder
from harness.plan import plan_steps
from harness.source import synthetic_source
from harness.workload import Workload
from tests.harness.core import planted_queues
from tests.harness.core.synthetic import step

GRACE_S = driver.GRACE_S


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """No need to wait long for what never comes."""
    monkeypatch.setattr(driver, "GRACE_S", 0.1)
    monkeypatch.setattr(driver, "_SHORTER_GRACE_S", 0.05)


class Log:
    """A backend that writes down what is called; `mark` is entered too."""

    def __init__(self, calls: list[str]) -> None:
        self._calls = calls
        self._ready = 0
        self.nireq = 3

    def execute(self, frame: Frame) -> None:
        self._calls.append(f"execute {frame.pts}")
        self._ready += 1

    def get_result(self) -> Any:
        self._calls.append("get_result")
        if not self._ready:
            return None
        self._ready -= 1
        return "a result"

    def flush(self) -> None:
        self._calls.append("flush")
        self._ready = 0

    def close(self) -> None:
        self._calls.append("close")


def drive(
    open_backend: Callable[[], Any],
    folder: Path,
    text: str = "8x8@25*3",
    mark: Callable[[], None] = lambda: None,
    cycles: int = 1,
) -> tuple[Driver, list[int]]:
    workload = Workload.parse(text)
    steps = plan_steps(workload, 0, "rgb24")
    journal = [-1] * (len(steps) * cycles)
    recorder = FlightRecorder(folder / "progress", create=True)
    made = Driver(
        open_backend, synthetic_source(workload, "rgb24", 0), steps, recorder, mark, journal, 10
    )
    for number in range(1, cycles + 1):
        made.run_cycle(number)
    return made, journal


def test_calls_and_marks_in_order(tmp_path: Path) -> None:
    calls: list[str] = []

    def open_backend() -> Log:
        calls.append("open")
        return Log(calls)

    made, journal = drive(open_backend, tmp_path, "8x8@50*3", lambda: calls.append("|"))
    assert " ".join(calls) == (
        "open | execute 0 execute 1 get_result get_result get_result | "
        "execute 2 get_result get_result | flush get_result | close |"
    )
    assert made.nireq == 3
    assert journal == [0, 0]


def test_the_backend_is_dropped_before_the_last_mark(tmp_path: Path) -> None:
    events: list[str] = []

    class Backend(planted_queues.LagsTwo):
        def __del__(self) -> None:
            events.append("dropped")

    drive(Backend, tmp_path, mark=lambda: events.append("|"))
    assert events[-2:] == ["dropped", "|"]


def test_the_number_of_calls_does_not_depend_on_the_scheduler(tmp_path: Path) -> None:
    class Counts(planted_queues.Pool):
        calls = 0

        def get_result(self) -> Any:
            Counts.calls += 1
            return super().get_result()

    counts = set()
    for _ in range(10):
        Counts.calls = 0
        _, journal = drive(Counts, tmp_path, "8x8@100*40")
        assert set(journal) == {0}
        counts.add(Counts.calls)
    assert counts == {40 + 10 + 1}


@pytest.mark.parametrize(
    ("backend", "text", "held"),
    [
        (planted_queues.LagsTwo, "8x8@25*6", [1, 2, 2, 2, 2, 2]),
        (planted_queues.LagsTwo, "8x8@100*12", [2, 2, 2]),
        (planted_queues.Batches, "8x8@25*8", [1, 2, 3, 0, 1, 2, 3, 0]),
        (planted_queues.HoldsUntilFlush, "8x8@25*5", [1, 2, 3, 4, 5]),
    ],
)
def test_frames_in_flight_are_entered_in_the_journal(tmp_path, backend, text, held) -> None:
    _, journal = drive(backend, tmp_path, text, cycles=2)
    assert journal == held * 2


def waits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that the driver waits to learn how many frames are held back."""
    found: list[int] = []
    learn = Driver._learn_lag

    def counted(self: Driver, backend: Any, position: int) -> None:
        found.append(self._submitted)
        learn(self, backend, position)

    monkeypatch.setattr(Driver, "_learn_lag", counted)
    return found


def test_a_lag_is_learned_in_the_first_steps(tmp_path, monkeypatch) -> None:
    found = waits(monkeypatch)
    drive(planted_queues.LagsTwo, tmp_path, "8x8@25*40", cycles=3)
    assert found == [1, 3]


def test_to_hold_back_all_costs_few_waits(tmp_path, monkeypatch) -> None:
    found = waits(monkeypatch)
    drive(planted_queues.HoldsUntilFlush, tmp_path, "8x8@25*200", cycles=2)
    assert found == [1, 3, 7, 15, 31, 63, 127]


def test_a_first_result_that_comes_in_a_wait_has_the_lag_learned_anew(tmp_path) -> None:
    class StartsLate(planted_queues.LagsTwo):
        """Asked for its third frame's results, it has one at the second time, then all of them."""

        asked = 0

        def held(self) -> int:
            if self.submitted > 3:
                return 0
            self.asked += self.submitted == 3
            return {1: 3, 2: 2, 3: 2}.get(self.asked, 0) if self.submitted == 3 else 3

    _, journal = drive(StartsLate, tmp_path, "8x8@25*6")
    assert journal == [1, 2, 0, 0, 0, 0]


def test_what_never_comes_is_waited_for_long_but_twice(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(driver, "_SHORTER_GRACE_S", 0.0)
    asked: list[int] = []

    class Loses(planted_queues.LagsTwo):
        def held(self) -> int:
            return self.submitted // 2

        def get_result(self) -> Any:
            if not self._flushed:
                asked.append(self.submitted)
            return super().get_result()

    _, journal = drive(Loses, tmp_path, "8x8@25*20")
    assert journal == [(n + 1) // 2 for n in range(20)]
    # Once for each frame, and for each second one's result; many times more in two waits.
    times = Counter(asked)
    often = [frame for frame, count in times.items() if count > 2]
    assert len(often) == 2
    assert max(often) < 6


def test_a_batch_costs_no_wait_after_the_first(tmp_path, monkeypatch) -> None:
    found = waits(monkeypatch)
    drive(planted_queues.Batches, tmp_path, "8x8@25*200")
    assert len(found) <= 5
    assert max(found) < 8


def test_without_a_lag_nothing_is_waited_for(tmp_path, monkeypatch) -> None:
    found = waits(monkeypatch)
    drive(planted_queues.AllocatingWorker, tmp_path, "8x8@100*80")
    assert found == []


def test_a_worker_that_sleeps_is_waited_for_as_long_as_something_comes(tmp_path) -> None:
    started = time.monotonic()
    _, journal = drive(planted_queues.SleepingWorker, tmp_path, "8x8@1000*40")
    assert time.monotonic() - started > 0.4
    assert journal == [0]


def test_a_worker_that_is_slow_now_and_then_holds_nothing_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(driver, "GRACE_S", GRACE_S)
    _, journal = drive(planted_queues.SlowNowAndThen, tmp_path, "8x8@25*8", cycles=2)
    assert journal == [0] * 16


def test_a_result_that_is_late_in_a_later_cycle_is_waited_for(tmp_path) -> None:
    class LateOnce(planted_queues.LagsTwo):
        """Holds one frame more back in its second cycle, for as long as it is asked twice."""

        opened = 0

        def __init__(self) -> None:
            super().__init__()
            LateOnce.opened += 1
            self._late = 2 if LateOnce.opened == 2 else 0

        def held(self) -> int:
            if self.submitted != 4 or not self._late:
                return super().held()
            self._late -= 1
            return 3

    _, journal = drive(LateOnce, tmp_path, "8x8@25*6", cycles=2)
    assert journal == [1, 2, 2, 2, 2, 2] * 2


def test_an_exception_leaves_the_recorder_where_it_happened(tmp_path: Path) -> None:
    class Raises(planted_queues.LagsTwo):
        def execute(self, frame: Any) -> None:
            if frame.pts == 2:
                raise ValueError("frame 2")
            super().execute(frame)

    with pytest.raises(ValueError, match="frame 2"):
        drive(Raises, tmp_path)
    at = FlightRecorder(tmp_path / "progress").read()
    assert (at.phase, at.cycle, at.frame, at.frames) == ("execute", 1, 2, 3)


@pytest.mark.parametrize("value", ["three", None, 2.5])
def test_an_odd_nireq_is_none(tmp_path: Path, value: Any) -> None:
    class Odd(planted_queues.LagsTwo):
        nireq = value

    assert drive(Odd, tmp_path)[0].nireq is None


def test_planned_steps_are_all_it_needs() -> None:
    assert (step(3).first, step(3).last) == (3, 3)
