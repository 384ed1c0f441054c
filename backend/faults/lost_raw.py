"""A native block, as the interpreter takes it, lost with each frame."""

from __future__ import annotations

from backend.faults._native import raw_free, raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Loses one with each frame."""

    def __call__(self, frame: Frame) -> Frame:
        self.done(raw_malloc(64))  # <- fault
        return frame

    def done(self, block: int) -> None:
        """The block has had its use."""


class Repaired(Faulty):
    """Frees it."""

    def done(self, block: int) -> None:
        """The block has had its use."""
        raw_free(block)


FAULT = Fault(
    about="a native block per frame, from PyMem_RawMalloc",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    faulty=Faulty,
    repaired=Repaired,
)
