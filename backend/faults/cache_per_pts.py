"""A cache keyed by the time stamp: every frame is new to it."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Looks up the time stamp."""

    def __init__(self) -> None:
        self._cache: dict[int, bytearray] = {}

    def __call__(self, frame: Frame) -> Frame:
        key = self.key(frame)
        if key not in self._cache:
            self._cache[key] = bytearray(1000)  # <- fault
        return frame

    def key(self, frame: Frame) -> int:
        """What entries are known by."""
        return frame.pts


class Repaired(Faulty):
    """Looks up what the entry depends on."""

    def key(self, frame: Frame) -> int:
        """What entries are known by."""
        return int(frame.data.nbytes)


FAULT = Fault(
    about="a cache keyed by the time stamp",
    rule="steady-growth",
    kind="leak-per-frame",
    faulty=Faulty,
    repaired=Repaired,
)
