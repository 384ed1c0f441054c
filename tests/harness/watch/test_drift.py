"""The verdict on series of memory: how often it is wrong on clean ones, and what it finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from harness.watch import drift
from harness.watch.drift import judge
from tests.harness.watch import shapes

SHAPES = sorted(shapes.CLEAN)


def course(values: list[int]) -> str:
    return judge(range(len(values)), values).course


def alarms(seeds: range) -> list[tuple[str, int]]:
    return [
        (shape, seed)
        for shape, seed in product(SHAPES, seeds)
        if course(shapes.clean(shape, seed)) == "rising"
    ]


def test_of_200_clean_series_at_most_one_is_said_to_drift() -> None:
    seeds = range(200 // len(SHAPES))
    assert len(SHAPES) * len(seeds) == 200 == 1 / drift.FALSE_ALARMS
    assert len(alarms(seeds)) <= 1


@pytest.mark.soak
def test_of_10000_clean_series_at_most_1_in_200_is_said_to_drift() -> None:
    seeds = range(2000)
    found = alarms(seeds)
    assert len(found) <= len(SHAPES) * len(seeds) * drift.FALSE_ALARMS, found


def test_a_walk_that_leads_nowhere_is_no_drift() -> None:
    """It has no bounds, and is where a test against independent noise alarms nearly always."""
    found = 0
    for seed in range(400):
        r = np.random.default_rng(seed)
        walk = 1e9 + np.cumsum(r.normal(0, 1e6, 300))
        found += course([int(value) for value in walk]) == "rising"
    assert found <= 400 * drift.FALSE_ALARMS


@pytest.mark.parametrize(
    ("shape", "share", "least"),
    [
        # Growth over the watch, as a share of the shape's own range (level: of 1 MiB).
        ("level", 1, 0.95),
        ("warms up", 0.1, 0.95),
        ("settles", 1, 0.8),
        ("swings", 8, 0.8),
        ("walks", 4, 0.8),
    ],
)
def test_growth_is_found(shape: str, share: float, least: float) -> None:
    seeds = range(40)
    found = sum(course(shapes.leaking(shape, seed, share)) == "rising" for seed in seeds)
    assert found >= least * len(seeds)


def test_growth_is_told_with_its_rate_and_start() -> None:
    """After a second of start-up, 10,000 bytes a second for a minute, in whole pages."""
    times = np.arange(0, 60, 0.1)
    start_up = 5e7 * np.minimum(times, 1)
    values = [int(value) // 4096 * 4096 for value in 1e8 + start_up + 10_000 * times]
    found = judge(list(times), values)
    assert found.course == "rising"
    assert found.low <= 10_000 <= found.high
    assert found.low > 9_000
    assert found.high < 11_000
    assert found.rate == pytest.approx(10_000, rel=0.05)
    assert 1 <= times[found.start] <= 5
    assert found.growth == pytest.approx(found.rate * 60, rel=0.2)


def test_steady_growth_loses_nothing_to_the_start_up() -> None:
    values = [10**8 + 5000 * n for n in range(200)]
    assert judge(range(200), values).start == 0


def test_what_settles_is_neither_a_drift_nor_none() -> None:
    """An approach with a time constant of a third of the watch still rises when it ends."""
    times = np.arange(0, 60, 0.1)
    values = [int(value) for value in 1e8 + 1e8 * (1 - np.exp(-times / 20))]
    assert course(values) == "settling"


def test_a_few_steps_are_no_drift_and_many_are() -> None:
    def stairs(steps: int) -> list[int]:
        return [10**8 + n * steps // 600 * 10**6 for n in range(600)]

    assert course(stairs(5)) == "level"
    assert course(stairs(24)) == "rising"


def test_growth_of_less_than_what_counts_is_no_drift() -> None:
    values = [10**8 + n * (drift.LEAST_GROWTH - 4096) // 599 for n in range(600)]
    found = judge(range(600), values)
    assert found.course == "level"
    assert found.p <= drift.ALPHA


def test_a_fall_is_no_drift() -> None:
    values = [10**8 - n * 10_000 for n in range(600)]
    found = judge(range(600), values)
    assert found.course == "level"
    assert found.rate == pytest.approx(-10_000)


def test_single_low_samples_hide_no_growth() -> None:
    values = [10**8 + n * 1000 for n in range(600)]
    values[100::50] = [10**7] * len(values[100::50])
    assert course(values) == "rising"


def test_too_few_samples_are_refused() -> None:
    least = drift.LEAST_SAMPLES
    assert course([1] * least) == "level"
    with pytest.raises(ValueError, match=f"{least - 1} samples are fewer than {least}"):
        course([1] * (least - 1))


def test_the_interval_has_the_rate_as_often_as_it_says() -> None:
    """On walks with a drift, the hardest case: on level noise it has it more often."""
    inside = 0
    for seed in range(400):
        r = np.random.default_rng(seed)
        values = 1e9 + np.cumsum(r.normal(2e4, 1e5, 300))
        found = judge(range(300), [int(value) for value in values])
        inside += found.low <= 2e4 <= found.high
    assert inside >= 400 * (drift.CONFIDENCE - 0.02)


def test_the_chance_is_that_of_all_signs() -> None:
    changes = np.arange(1.0, drift.PARTS)
    assert drift._p(changes) == 1 / 2 ** (drift.PARTS - 1)
    assert drift._p(-changes) == 1
    assert drift._p(np.zeros(drift.PARTS - 1)) == 1
    one = np.zeros(drift.PARTS - 1)
    one[3] = 7.0
    assert drift._p(one) == 0.5
