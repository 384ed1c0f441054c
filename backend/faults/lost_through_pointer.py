"""A block from a malloc that is called through a pointer, as ctypes does: no tracer sees it."""

from __future__ import annotations

from backend.faults._native import free, malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Loses one with each frame."""

    def __call__(self, frame: Frame) -> Frame:
        block = malloc(64)  # <- fault
        self.done(block)
        return frame

    def done(self, block: int) -> None:
        """The block has had its use."""


class Repaired(Faulty):
    """Frees it."""

    def done(self, block: int) -> None:
        """The block has had its use."""
        free(block)


FAULT = Fault(
    about="a native block per frame, from malloc through ctypes",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*24",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
