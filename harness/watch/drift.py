"""From samples of memory to a verdict: does it go on rising once the start-up is over?

What never comes down again is a leak, so what is judged is the floor: the samples are cut into
parts of equal length, and the least of each part stands for it. Peaks, a garbage collector's
sawtooth and children that come and go leave the floor where it is.

start-up   The samples are cut into STARTUP_PARTS. Start-up ends with the last change of the floor,
           in the first half of the samples, that is more than STARTUP_FACTOR times any change in
           the second half. Steady growth has no such change: nothing of it is dropped.
rising     What follows is cut into PARTS. If the memory is level, a rise of the floor from part to
           part is as likely as a fall of that size. So all ways to sign the changes are tried (a
           randomisation test, Fisher 1935): the growth counts if at most ALPHA of them add up to
           as much. It holds under the hardest case too, a walk that leads nowhere, for which a
           test of the slope against independent noise alarms nearly always.
lasting    The later half of it, cut anew, must rise by itself (at most LATER_ALPHA), and at
           SETTLING or more of the rate of the earlier half. If it only rises more slowly, it is
           still settling: no verdict.
effect     LEAST_GROWTH in all.

False alarms: at most 1 in 200 clean series. That is measured, in tests/harness/watch/test_drift.py,
on series that are level, that warm up, that swing as garbage collectors do, that walk within
bounds, and that settle by steps; each with noise of pages, and a third with peaks of children.
A swing with a period of more than a third of the time watched looks like growth: watch for longer.

The confidence interval has the rates for which the same test does not reject what is left when they
are taken off. It has the true one in CONFIDENCE of the cases on walks, and in more of them else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

LEAST_SAMPLES = 60
STARTUP_PARTS = 24
STARTUP_FACTOR = 1.5
PARTS = 12
ALPHA = 5 / 2 ** (PARTS - 1)
"""1 in 410"""
LATER_ALPHA = 0.15
SETTLING = 0.5
LEAST_GROWTH = 64 * 1024
"""bytes: a process at rest touches some pages now and then"""
CONFIDENCE = 0.95
FALSE_ALARMS = 1 / 200
"""what is promised, and measured"""

_TAIL = 0.01
"""Each end of the interval is where the test's p is that. Half of 1 - CONFIDENCE would do if the
changes were independent, but those of neighbouring parts of a walk are not (Working 1960)."""
_HALVINGS = 50
"""of the range in which an end of the interval lies"""

Floats: TypeAlias = NDArray[np.float64]
Course = Literal["level", "rising", "settling"]


@dataclass(frozen=True, slots=True)
class Drift:
    """What the samples say."""

    course: Course
    start: int
    """number of the first sample after the start-up"""
    growth: int
    """bytes by which the floor rose since then"""
    rate: float
    """bytes per second"""
    low: float
    high: float
    """the rate's confidence interval"""
    p: float
    """the share of all ways to sign the changes that add up to as much growth"""
    later_p: float
    """the same of the later half"""


def judge(times: Sequence[float], values: Sequence[int]) -> Drift:
    """Judge samples, in bytes, at these times, in seconds and rising.

    Raises ValueError if there are fewer than LEAST_SAMPLES.
    """
    if len(values) < LEAST_SAMPLES:
        raise ValueError(f"{len(values)} samples are fewer than {LEAST_SAMPLES}")
    at = np.asarray(times, np.float64)
    level = _without_dips(np.asarray(values, np.float64))
    start = _end_of_startup(level)
    at, level = at[start:], level[start:]
    floors, middles = _floors(level, PARTS), _middles(at, PARTS)
    changes, seconds = np.diff(floors), np.diff(middles)
    half = len(level) // 2
    p, later_p = _p(changes), _p(np.diff(_floors(level[half:], PARTS)))
    growth = float(changes.sum())
    course: Course = "level"
    if p <= ALPHA and later_p <= LATER_ALPHA and growth >= LEAST_GROWTH:
        course = "rising" if _lasts(floors, middles) else "settling"
    return Drift(
        course=course,
        start=start,
        growth=round(growth),
        rate=growth / float(seconds.sum()),
        low=-_upper_end(-changes, seconds),
        high=_upper_end(changes, seconds),
        p=p,
        later_p=later_p,
    )


def _without_dips(values: Floats) -> Floats:
    """The median of each sample and its neighbours.

    Where a child is forked between two reads, one sample has half of what both share.
    """
    inner = np.median(np.stack([values[:-2], values[1:-1], values[2:]]), axis=0)
    return np.concatenate([values[:1], inner, values[-1:]])


def _end_of_startup(values: Floats) -> int:
    """Number of the first sample after it; at most that of the one in the middle."""
    changes = np.abs(np.diff(_floors(values, STARTUP_PARTS)))
    middle = STARTUP_PARTS // 2
    # The change over the middle belongs to neither half.
    usual = changes[middle:].max()
    startup = np.flatnonzero(changes[:middle] > STARTUP_FACTOR * usual)
    parts = int(startup[-1]) + 1 if startup.size else 0
    return sum(len(part) for part in np.array_split(values, STARTUP_PARTS)[:parts])


def _floors(values: Floats, parts: int) -> Floats:
    return np.array([part.min() for part in np.array_split(values, parts)])


def _middles(times: Floats, parts: int) -> Floats:
    return np.array([part.mean() for part in np.array_split(times, parts)])


def _lasts(floors: Floats, middles: Floats) -> bool:
    """Whether the later half rises nearly as fast as the earlier one."""
    middle = len(floors) // 2
    earlier = (floors[middle] - floors[0]) / (middles[middle] - middles[0])
    later = (floors[-1] - floors[middle]) / (middles[-1] - middles[middle])
    return bool(later >= SETTLING * earlier)


@cache
def _signs() -> Floats:
    return np.array(list(product((1.0, -1.0), repeat=PARTS - 1)))


def _p(changes: Floats) -> float:
    """The share of all ways to sign the changes that add up to as much, or more."""
    total = changes.sum()
    # Sums of the same numbers in another order differ in their last bits.
    slack = 1e-9 * np.abs(changes).sum()
    return float(np.mean(_signs() @ changes >= total - slack))


def _upper_end(changes: Floats, seconds: Floats) -> float:
    """The highest rate which, taken off, leaves a fall that the test does not find."""
    rates = changes / seconds
    low, high = float(rates.min()), float(rates.max())
    for _ in range(_HALVINGS):
        rate = (low + high) / 2
        if _p(rate * seconds - changes) > _TAIL:
            low = rate
        else:
            high = rate
    return high
