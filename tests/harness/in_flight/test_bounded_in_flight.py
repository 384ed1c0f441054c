"""bounded-in-flight on timelines made by hand, and on backends that hold frames back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.contract import Contract
from harness.plan import PlannedStep
from harness.result import RuleResult
from harness.rules import bounded_in_flight
from harness.timeline import Interval, Timeline
from harness.verify import verify

PLANTED = Path(__file__).parents[1] / "core" / "planted_queues.py"


def check(
    in_flight: Sequence[int], nireq: int | None = None, bursts: Sequence[int] = (), cycles: int = 1
) -> RuleResult:
    """The rule on steps that end with so many frames in flight, the same in each cycle."""
    steps, first = [], 0
    for index, _ in enumerate(in_flight):
        burst = bursts[index] if bursts else 1
        steps.append(PlannedStep(index, first, first + burst - 1, 64, 48, "steady"))
        first += burst
    intervals = [Interval("step", cycle, step) for cycle in range(1, cycles + 1) for step in steps]
    timeline = Timeline(
        intervals=intervals,
        births=[{} for _ in intervals],
        spans=[],
        cycles=cycles,
        in_flight=list(in_flight) * cycles,
        nireq=nireq,
    )
    return bounded_in_flight.check(timeline, Contract())


BOUNDED = {
    "none held": [0] * 20,
    "a lag that is reached": [1, 2, 3, *[4] * 20],
    "a long lag": [*range(1, 30), *[30] * 12],
    "batches of four": [1, 2, 3, 0] * 5,
    "a batch longer than half": [*range(1, 26), 0, *range(1, 15)],
    "one frame lost": [0] * 5 + [1] * 15,
    "a swing": [0, 5] * 10,
    "it falls": [*range(20, 0, -1)],
    "too short to tell": [1, 2, 3, 4, 5, 6, 7],
}
RISING = {
    "all until flush": list(range(1, 21)),
    "one in ten": [n // 10 for n in range(60)],
    "one in fifty": [n // 50 for n in range(200)],
    "batches that leak": [n % 4 + n // 8 for n in range(40)],
}


@pytest.mark.parametrize("name", BOUNDED)
def test_what_is_bounded_passes(name: str) -> None:
    for cycles in (1, 3):
        result = check(BOUNDED[name], cycles=cycles)
        assert (result.status, result.measured, result.findings) == ("pass", max(BOUNDED[name]), ())


@pytest.mark.parametrize("name", RISING)
def test_what_goes_on_rising_fails(name: str) -> None:
    result = check(RISING[name], cycles=3)
    assert result.status == "fail"
    assert result.measured == max(RISING[name]) > result.limit
    (finding,) = result.findings
    assert (finding.kind, finding.cycle) == ("unbounded-in-flight", 1)
    assert finding.frames == tuple(range(len(RISING[name])))
    assert f"{RISING[name][-1]} after the last" in finding.text


def test_a_larger_burst_that_is_held_as_long_is_no_rise() -> None:
    bursts = [1] * 30 + [4] * 10
    assert check(bursts, bursts=bursts).status == "pass"
    alternating = [2, 1, 1, 1, 1] * 6
    assert check(alternating, bursts=alternating).status == "pass"
    assert check([n + b for n, b in enumerate(bursts)], bursts=bursts).status == "fail"


def test_no_more_than_requests_beside_the_lag() -> None:
    assert check([4] * 3 + [0] * 9, nireq=4).status == "pass"
    result = check([5] + [0] * 9, nireq=4)
    assert (result.status, result.measured, result.limit) == ("fail", 5, 4)
    (finding,) = result.findings
    assert (finding.kind, finding.count, finding.frames) == ("in-flight-above-nireq", 5, (0,))
    assert "5 frames in flight, though the backend has 4 requests" in finding.text
    # A constant lag is not the pool's: 3 are always held, and never more than 3 + 4.
    assert check([7, *[3] * 9], nireq=4).status == "pass"
    assert check([8, *[3] * 9], nireq=4).status == "fail"


def test_without_a_step_nothing_is_known() -> None:
    assert check([]).status == "skipped"


@pytest.mark.parametrize(
    ("name", "status"),
    [("LagsTwo", "pass"), ("Batches", "pass"), ("HoldsUntilFlush", "fail")],
)
def test_real_backends(name: str, status: str) -> None:
    report = verify(f"{PLANTED}:{name}", "16x16@25*24", cycles=1, quick=True)
    assert report.failure is None
    (result,) = [rule for rule in report.rules if rule.rule == "bounded-in-flight"]
    assert result.status == status
