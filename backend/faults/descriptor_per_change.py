"""A descriptor opened on each change of resolution, and not closed."""

from __future__ import annotations

import os

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Opens a device anew for each resolution, and closes the one before."""

    def __init__(self) -> None:
        self._device = -1
        self._width = 0

    def __call__(self, frame: Frame) -> Frame:
        if frame.width != self._width:
            self._width = frame.width
            self.close()
            self._device = os.open(os.devnull, os.O_RDONLY)
        return frame

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
    workload=",".join(["32x32@25*4", "40x32@25*4"] * 4),
    faulty=Faulty,
    repaired=Repaired,
)
