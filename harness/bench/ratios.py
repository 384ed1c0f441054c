"""Ratios that load does not decide: contestants take turns, and those of one turn are compared."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def in_turn(contestants: Mapping[str, Callable[[], T]], turns: int) -> dict[str, list[T]]:
    """Call each in turn, so many times, every other turn backwards; what they return, by name.

    So what the machine does besides hits neighbours alike, and none is always the first.
    """
    found: dict[str, list[T]] = {name: [] for name in contestants}
    for turn in range(turns):
        order = list(contestants)
        for name in order if turn % 2 == 0 else reversed(order):
            found[name].append(contestants[name]())
    return found


def ratio(of: Sequence[float], to: Sequence[float]) -> float:
    """The median over the turns of the one by the other."""
    return statistics.median(one / other for one, other in zip(of, to, strict=True))


def least_of(several: Iterable[Sequence[float]]) -> list[float]:
    """The best of several contestants, turn by turn."""
    return [min(turn) for turn in zip(*several, strict=True)]


def exponent(points: Iterable[tuple[float, float]]) -> float:
    """The k of y = c * x**k, by least squares on the logarithms; all values above 0."""
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points), strict=True)
    return statistics.linear_regression(xs, ys).slope
