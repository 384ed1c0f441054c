"""A buffer that is much too large is given up for a smaller one."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Grows only."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Frame) -> Frame:
        self.reserve(frame.data.nbytes)
        self._buffer[0] = 1
        return frame

    def reserve(self, nbytes: int) -> None:
        """Grow the buffer, if need be."""
        if len(self._buffer) < nbytes:
            self._buffer = bytearray(nbytes)


class Faulty(Repaired):
    """Shrinks when half would do."""

    def reserve(self, nbytes: int) -> None:
        """Fit the buffer."""
        if nbytes > len(self._buffer) or 2 * nbytes < len(self._buffer):
            self._buffer = bytearray(nbytes)  # <- fault


FAULT = Fault(
    about="the buffer shrinks to fit a smaller frame, and has to grow again",
    rule="grow-only",
    kind="regrowth",
    workload="80x80@25*12,40x40@25*12,80x80@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
