"""A tuple kept with each frame: so small that malloc is not asked for it."""

from __future__ import annotations

from collections import deque

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Keeps the size of every frame."""

    most: int | None = None

    def __init__(self) -> None:
        self._sizes: deque[tuple[int, int, int]] = deque(maxlen=self.most)

    def __call__(self, frame: Frame) -> Frame:
        self._sizes.append((frame.pts, frame.width, frame.height))  # <- fault
        return frame


class Repaired(Faulty):
    """Keeps the last four."""

    most = 4


FAULT = Fault(
    about="a small Python object is kept with each frame",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*40",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
