"""A leak of any size, every so many frames: to measure how small a one is found."""

from __future__ import annotations

from backend.faults._native import raw_malloc
from backend.frame import Frame


class Leak:
    """Loses a native block of `size` bytes on every `every`-th frame; none if `every` is 0."""

    def __init__(self, size: int = 16, every: int = 1) -> None:
        self._size = size
        self._every = every
        self._frames = 0

    def __call__(self, frame: Frame) -> Frame:
        self._frames += 1
        if self._every and self._frames % self._every == 0:
            raw_malloc(self._size)
        return frame
