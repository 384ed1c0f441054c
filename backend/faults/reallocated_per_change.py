"""The buffer is made anew on each change of geometry, large enough or not."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Reacts to a change as if all had to be set up again."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._size = (0, 0)

    def __call__(self, frame: Frame) -> Frame:
        if (frame.width, frame.height) != self._size:
            self._size = frame.width, frame.height
            self.reserve(frame.data.nbytes)
        self._buffer[0] = 1
        return frame

    def reserve(self, nbytes: int) -> None:
        """Make the buffer."""
        self._buffer = bytearray(max(nbytes, len(self._buffer)))  # <- fault


class Repaired(Faulty):
    """Only growth needs memory."""

    def reserve(self, nbytes: int) -> None:
        """Grow the buffer, if need be."""
        if len(self._buffer) < nbytes:
            self._buffer = bytearray(nbytes)


FAULT = Fault(
    about="the buffer is made anew on each change of resolution",
    rule="grow-only",
    kind="regrowth",
    workload="48x48@25*12,40x40@25*12,48x48@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
