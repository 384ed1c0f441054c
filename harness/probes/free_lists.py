"""Bring numpy's free lists to a known state before anything is measured.

A block that was kept before the trace began is invisible to it; if it is taken, and another one is
kept in its stead, that other one looks like a leak. So the lists are emptied before the trace
begins, and filled again once it has begun.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.probes.listed import HELD, LARGEST

_RANKS = range(1, 8)
_DATA_BYTES = range(LARGEST + 1)


def empty() -> list[NDArray[Any]]:
    """Take all small data that the lists hold; they are empty as long as the result is kept."""
    return [np.empty(size, np.uint8) for size in _DATA_BYTES for _ in range(HELD)]


def fill() -> None:
    """Fill the lists with blocks of this moment."""
    for size in _DATA_BYTES:
        _fill((size,), HELD)
    fill_dimensions()


def fill_dimensions() -> None:
    """Fill the lists of dimensions alone.

    One block of each was in use for a moment, and so is from before; a second call gives it back.
    """
    for rank in _RANKS:
        # numpy itself uses the lists of dimensions for a moment with every call, so that they can't
        # be kept empty. Twice as many are taken, and what was in the list is given back last, when
        # it is full.
        _fill((1,) * rank, 2 * HELD)


def _fill(shape: tuple[int, ...], count: int) -> None:
    arrays = [np.empty(shape, np.uint8) for _ in range(count)]
    while arrays:
        arrays.pop()
