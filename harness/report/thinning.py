"""Which of very many steps are drawn: a page stays small and quick, and hides no extreme."""

from __future__ import annotations

from collections.abc import Sequence

MOST_STEPS = 2000
"""that are all drawn: a plot is about as many pixels wide"""
PARTS = 500
"""of a longer run"""


def drawn(curves: Sequence[Sequence[int]]) -> list[int]:
    """Positions, in order, at which equally long curves are drawn: all of few.

    Of more, in each of PARTS equal parts its first one, and the first at which any curve is lowest
    and highest there; and the last one of all.
    """
    count = len(curves[0])
    if count <= MOST_STEPS:
        return list(range(count))
    kept = {count - 1}
    for number in range(PARTS):
        part = range(count * number // PARTS, count * (number + 1) // PARTS)
        kept.add(part[0])
        for curve in curves:
            kept.add(min(part, key=curve.__getitem__))
            kept.add(max(part, key=curve.__getitem__))
    return sorted(kept)
