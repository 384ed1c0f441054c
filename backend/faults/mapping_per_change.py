"""Pages mapped on each change of resolution, and not unmapped."""

from __future__ import annotations

import mmap

from backend.faults.fault import Fault
from backend.frame import Frame

_mapped: list[mmap.mmap] = []


class Faulty:
    """Maps a staging area for each resolution."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, frame: Frame) -> Frame:
        if frame.width != self._width:
            self._width = frame.width
            self.free()
            _mapped.append(mmap.mmap(-1, 65536))  # <- fault
        return frame

    def free(self) -> None:
        """Unmap the area of the resolution before."""


class Repaired(Faulty):
    """Has one at a time."""

    def free(self) -> None:
        """Unmap the area of the resolution before."""
        while _mapped:
            _mapped.pop().close()

    def close(self) -> None:
        """Unmap the last area."""
        self.free()


FAULT = Fault(
    about="pages stay mapped on each change of resolution",
    rule="steady-growth",
    kind="leak-per-resolution-change",
    level="zero-growth",
    workload=",".join(["32x32@25*4", "40x32@25*4"] * 4),
    faulty=Faulty,
    repaired=Repaired,
)
