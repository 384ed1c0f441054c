"""An anonymous file in memory for each resolution, mapped and never closed."""

from __future__ import annotations

import mmap
import os

from backend.faults.fault import Fault
from backend.frame import Frame

_maps: list[mmap.mmap] = []


class Faulty:
    """Shares its pixels with a helper, by a file in memory that is made when the width changes."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, frame: Frame) -> Frame:
        if frame.width != self._width:
            self._width = frame.width
            self.unmap()
            shared = os.memfd_create("fault-pixels")
            os.ftruncate(shared, frame.data.nbytes)
            _maps.append(mmap.mmap(shared, frame.data.nbytes))
            os.close(shared)
        return frame

    def unmap(self) -> None:
        """Give the pixels of the width before back."""


class Repaired(Faulty):
    """Has one at a time."""

    def unmap(self) -> None:
        """Give the pixels of the width before back."""
        while _maps:
            _maps.pop().close()

    def close(self) -> None:
        """Give the last pixels back."""
        self.unmap()


FAULT = Fault(
    about="pixels shared by memfd stay mapped on each change of resolution",
    rule="teardown-resources",
    kind="memfd",
    level="zero-growth",
    workload=",".join(["32x32@25*4", "40x32@25*4"] * 4),
    faulty=Faulty,
    repaired=Repaired,
)
