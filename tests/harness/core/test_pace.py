"""Real time: when steps begin, and which frames are late."""

from __future__ import annotations

import time

import pytest

from harness import pace
from harness.errors import UsageError
from harness.pace import RealTime
from harness.spec import Lateness
from harness.verify_soak import verify_soak
from harness.workload import Workload


class Clock:
    """Time that passes only in sleep and when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(pace, "time", clock)
    return clock


def paced(text: str) -> RealTime:
    return RealTime(Workload.parse(text), longest_s=60)


def test_step_waits_until_its_tick_is_over(clock: Clock) -> None:
    run = paced("8x8@50*4,8x8@12.5*2")
    run.begin()
    for step, frames in enumerate((2, 2, 1, 1)):
        run.wait(step)
        run.done(step, frames)
    # Two ticks in a row, then one tick after each frame's arrival: frame 5 comes at tick 4.
    assert clock.slept == [0.04, 0.04, 0.04, 0.08]
    assert run.lateness == Lateness(wanted_s=0.24, late=0, most_s=0)


def test_frames_are_late_whose_results_come_after_the_next_are_due(clock: Clock) -> None:
    run = paced("8x8@50*6")
    run.begin()
    run.wait(0)
    clock.now += 0.03
    run.done(0, 2)
    run.wait(1)
    clock.now += 0.05
    run.done(1, 2)
    run.wait(2)  # it has been due for 0.01 s
    run.done(2, 2)
    assert clock.slept == [0.04, 0.01]
    assert run.lateness.late == 2
    assert run.lateness.most_s == pytest.approx(0.01)


def test_wait_that_looks_like_a_hang_is_refused() -> None:
    with pytest.raises(UsageError, match=r"waits 80 s for a frame.*--timeout above 80"):
        paced("8x8@1/80*2")


def test_soak_in_real_time_takes_as_long_as_its_frames_and_tells_so() -> None:
    started = time.monotonic()
    report = verify_soak("backend.reference:open_identity", 50, "8x8@100*50", real_time=True)
    assert time.monotonic() - started >= 0.5
    assert report.verdict == "pass"
    (told,) = [note for note in report.notes if note.startswith("in real time")]
    assert told.startswith("in real time they come at 100.0 a second; ")
    assert report.replay.endswith("--soak 50 --pace realtime")
