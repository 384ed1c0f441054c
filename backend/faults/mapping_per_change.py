"""Pages mapped on each change of resolution, and not unmapped."""

from __future__ import annotations

import mmap

from backend.faults._changes import WORKLOAD, OnChange
from backend.faults.fault import Fault

_mapped: list[mmap.mmap] = []


class Faulty(OnChange):
    """Maps a staging area for each resolution."""

    def changed(self) -> None:
        """Map an area of its own for this width."""
        self.free()
        _mapped.append(mmap.mmap(-1, 65536))  # <- fault

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
    workload=WORKLOAD,
    faulty=Faulty,
    repaired=Repaired,
)
