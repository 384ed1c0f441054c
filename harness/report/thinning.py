"""Which of very many steps are drawn: a page stays small and quick, and hides no extreme."""

from __future__ import annotations

from collections.abc import Sequence

MOST_STEPS = 1000
"""that are all drawn: a plot is about as many pixels wide"""
PARTS = 500
"""of a longer run"""
CELLS = 250
"""of a strip at the most: one that is narrower than a pixel, on a phone, is not drawn at all"""


def parts(count: int, most: int) -> list[range]:
    """So many steps in parts of equal length, one each if they are no more than that."""
    number = min(count, most)
    return [range(count * n // number, count * (n + 1) // number) for n in range(number)]


def drawn(curves: Sequence[Sequence[int]]) -> list[int]:
    """Positions, in order, at which equally long curves are drawn.

    In each part its first one, and the first at which any curve is lowest and highest there; and
    the last one of all.
    """
    count = len(curves[0])
    kept = {count - 1}
    for part in parts(count, count if count <= MOST_STEPS else PARTS):
        kept.add(part[0])
        for curve in curves:
            kept |= {min(part, key=curve.__getitem__), max(part, key=curve.__getitem__)}
    return sorted(kept)
