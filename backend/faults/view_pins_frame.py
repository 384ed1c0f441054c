"""A few samples of each frame are kept, as a view that keeps all of the frame alive."""

from __future__ import annotations

from typing import Any

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Keeps the first pixel of the first 64 frames."""

    def __init__(self) -> None:
        self._thumbnails: list[Any] = [None] * 64

    def __call__(self, frame: Frame) -> Frame:
        self._thumbnails[frame.pts % 64] = self.thumbnail(frame)
        return frame

    def thumbnail(self, frame: Frame) -> Any:
        """The first pixel."""
        data: Any = frame.data
        return data[0, 0]


class Repaired(Faulty):
    """Keeps numbers instead."""

    def thumbnail(self, frame: Frame) -> Any:
        """The first pixel."""
        data: Any = frame.data
        return int(data[0, 0, 0])


FAULT = Fault(
    about="a view of a few bytes pins a whole frame",
    rule="steady-growth",
    kind="input-kept",
    level="zero-growth",
    faulty=Faulty,
    repaired=Repaired,
)
