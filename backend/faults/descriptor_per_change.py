"""A descriptor opened on each change of resolution, and not closed."""

from __future__ import annotations

import os

from backend.faults._changes import WORKLOAD, OnChange
from backend.faults.fault import Fault


class Repaired(OnChange):
    """Opens a device anew for each resolution, and closes the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._device = -1

    def changed(self) -> None:
        """Open the device anew."""
        self.close()
        self._device = os.open(os.devnull, os.O_RDONLY)

    def close(self) -> None:
        """Close the device."""
        if self._device >= 0:
            os.close(self._device)
            self._device = -1


class Faulty(Repaired):
    """Does not."""

    def close(self) -> None:
        """Forget the device."""


FAULT = Fault(
    about="a file descriptor is lost on each change of resolution",
    rule="teardown-resources",
    kind="file-descriptor",
    workload=WORKLOAD,
    faulty=Faulty,
    repaired=Repaired,
)
