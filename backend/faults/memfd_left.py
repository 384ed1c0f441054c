"""An anonymous file in memory for each instance, not closed."""

from __future__ import annotations

import os

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Forgets it."""

    def __init__(self) -> None:
        self._memory = os.memfd_create("fault-frames")

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Closes it."""

    def close(self) -> None:
        """Give the memory back."""
        os.close(self._memory)


FAULT = Fault(
    about="an anonymous file in memory (memfd) stays open",
    rule="teardown-resources",
    kind="memfd",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
