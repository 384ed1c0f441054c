"""A pool of nine arrays: more than numpy's free list of their dimensions has room for.

What the list kept of those before is freed as these are, so that the blocks of a later cycle stay
in it: as many as before, though they bear the line of the pool.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backend.faults.fault import Green
from backend.frame import Frame

_COUNT = 9


class Backend:
    """Inverts each frame in the next array of the pool."""

    def __init__(self) -> None:
        self._pool = [np.empty(32 * 32 * 3, np.uint8) for _ in range(_COUNT)]
        self._next = 0

    def __call__(self, frame: Frame) -> NDArray[np.uint8]:
        pixels = self._pool[self._next].reshape(frame.data.shape)
        self._next = (self._next + 1) % _COUNT
        return np.invert(frame.data, out=pixels)


GREEN = Green(
    about="a pool of more arrays than a free list of numpy's has room for",
    workload="32x32@25*24",
    backend=Backend,
)
