"""A block that only the third instance of a process loses."""

from __future__ import annotations

from typing import ClassVar

from backend.faults._native import raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Counts instances."""

    opened: ClassVar[int] = 0

    def __init__(self) -> None:
        Repaired.opened += 1
        if Repaired.opened == 3:
            self.third()

    def third(self) -> None:
        """Something that has to be done at some time."""

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Faulty(Repaired):
    """Loses the block."""

    def third(self) -> None:
        """Something that has to be done at some time."""
        raw_malloc(64)  # <- fault


FAULT = Fault(
    about="a block that only the third cycle loses",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    cycles=4,
    faulty=Faulty,
    repaired=Repaired,
)
