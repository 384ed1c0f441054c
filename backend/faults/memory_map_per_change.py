"""An anonymous file in memory for each resolution, mapped and never closed."""

from __future__ import annotations

import mmap
import os

from backend.faults._changes import WORKLOAD, OnChange
from backend.faults.fault import Fault

_maps: list[mmap.mmap] = []


class Faulty(OnChange):
    """Shares its pixels with a helper, by a file in memory that is made when the width changes."""

    def changed(self) -> None:
        """Share what frames of this width need."""
        self.unmap()
        shared = os.memfd_create("fault-pixels")
        os.ftruncate(shared, self.nbytes)
        _maps.append(mmap.mmap(shared, self.nbytes))
        os.close(shared)

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
    workload=WORKLOAD,
    faulty=Faulty,
    repaired=Repaired,
)
