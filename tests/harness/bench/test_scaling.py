"""The scaling section: exponents of what was measured, and an analysis that keeps no events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.bench import events, scaling
from harness.bench.events import LEAST_EVENTS, Analysed
from harness.workload import Workload


def test_the_exponent_is_the_median_of_the_turns() -> None:
    assert scaling.fitted({1: [1, 1, 7], 4: [4, 16, 28]}) == pytest.approx(1)


def test_every_series_asks_for_what_it_says() -> None:
    for series in scaling.SERIES:
        for value in series.values:
            asked = series.asked(value)
            workload = Workload.parse(asked["workload"])
            given = {
                "frames": sum(segment.frames for segment in workload.segments),
                "resolutions": len({(s.width, s.height) for s in workload.segments}),
                "cycles": asked.get("cycles"),
                "nireq": asked.get("options", {}).get("nireq"),
            }
            assert given[series.quantity] == value


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, int], Any]:
    def measured(power: float, peak: int) -> Any:
        def seconds(asked: dict[str, Any]) -> float:
            return float(asked.get("cycles", 1)) ** power

        monkeypatch.setattr(scaling, "_seconds", seconds)
        monkeypatch.setattr(
            scaling, "analyse", lambda n, kept: Analysed(n, n // kept if kept else 0, n / 1e6, peak)
        )
        return scaling.measure(1, lambda _: None)

    return measured


def test_the_worst_exponent_and_the_largest_peak_are_held_against_their_limits(
    measure: Callable[[float, int], Any],
) -> None:
    cost, memory = measure(1, 2**20).targets
    assert (cost.met, memory.met) == (True, True)
    cost, memory = measure(2, 2**30).targets
    assert (cost.at, cost.met) == ("by cycles", False)
    assert cost.figure == pytest.approx(2)
    assert (memory.figure, memory.met) == (1024, False)


def test_memory_does_not_depend_on_the_number_of_events() -> None:
    few, many = (events.analyse(LEAST_EVENTS * times, 0) for times in (1, 4))
    assert many.events > 3.5 * few.events
    assert many.alive == few.alive
    assert many.peak_bytes < few.peak_bytes + 20 * 2**20
