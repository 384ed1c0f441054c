"""Frames that are served at once, but for those of a few bursts: they wait for `get_result`.

More arrays than before are alive for a moment then, so that numpy's free list of their dimensions
has more blocks from there on, which bear the line where the input frames are made.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backend.faults.fault import Green
from backend.frame import Frame

_LATE = frozenset((30, 31, 45, 46, 47))
_COUNT = 8


class Backend:
    """Inverts each frame into the next array of a ring."""

    def __init__(self) -> None:
        self._ring = [np.empty((32, 32, 3), np.uint8) for _ in range(_COUNT)]
        self._waiting: deque[Any] = deque()
        self._done: deque[NDArray[np.uint8]] = deque()

    def execute(self, frame: Frame) -> None:
        """Take in one frame; raises ValueError for one of another shape."""
        if frame.data.shape != (32, 32, 3) or frame.data.dtype != np.uint8:
            raise ValueError("takes 32x32 of three channels only")
        self._waiting.append(frame.data)
        if frame.pts not in _LATE:
            self._serve()

    def _serve(self) -> None:
        while self._waiting:
            result = self._ring[0]
            self._ring.append(self._ring.pop(0))
            self._done.append(np.invert(self._waiting.popleft(), out=result))

    def get_result(self) -> NDArray[np.uint8] | None:
        """The next result."""
        self._serve()
        return self._done.popleft() if self._done else None

    def flush(self) -> None:
        """Serve what waits."""
        self._serve()

    def close(self) -> None:
        """Drop everything."""
        self._ring.clear()
        self._waiting.clear()
        self._done.clear()


GREEN = Green(
    about="frames that are served later than others in a few bursts",
    workload="32x32@100*60",
    backend=Backend,
)
