"""The capacity is counted in pixels: gray frames of more pixels and fewer bytes make it grow."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Compares pixels."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._capacity = 0

    def __call__(self, frame: Frame) -> Frame:
        needed = self.need(frame)
        if self._capacity < needed:
            self._capacity = needed
            self._buffer = bytearray(frame.data.nbytes)  # <- fault
        return frame

    def need(self, frame: Frame) -> int:
        """What the frame needs."""
        return frame.width * frame.height


class Repaired(Faulty):
    """Compares bytes."""

    def need(self, frame: Frame) -> int:
        """What the frame needs."""
        return int(frame.data.nbytes)


FAULT = Fault(
    about="capacity compared in pixels: more pixels of fewer bytes make it grow",
    rule="grow-only",
    kind="regrowth",
    workload="64x64:rgb24@25*12,80x64:gray8@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
