"""A descriptor opened by each instance, and not closed."""

from __future__ import annotations

import os

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Opens a device."""

    def __init__(self) -> None:
        self._device = os.open(os.devnull, os.O_RDONLY)

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Closes it."""

    def close(self) -> None:
        """Close the device."""
        os.close(self._device)


FAULT = Fault(
    about="a file descriptor stays open",
    rule="teardown-resources",
    kind="file-descriptor",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
