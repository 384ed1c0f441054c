"""A list of the class has every instance in it, closed ones too."""

from __future__ import annotations

from typing import ClassVar

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Enters itself on open."""

    instances: ClassVar[list[Faulty]] = []

    def __init__(self) -> None:
        self._weights = bytearray(5000)  # <- fault
        self.instances.append(self)

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Takes itself out on close."""

    def close(self) -> None:
        """Leave the list."""
        self.instances.remove(self)


FAULT = Fault(
    about="a list of the class keeps every instance",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
