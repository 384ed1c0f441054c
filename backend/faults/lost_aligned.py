"""An aligned block, from posix_memalign through ctypes, lost with each frame."""

from __future__ import annotations

import ctypes

from backend.faults._native import free, posix_memalign
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Loses one with each frame."""

    def __call__(self, frame: Frame) -> Frame:
        block = ctypes.c_void_p()
        posix_memalign(ctypes.byref(block), 64, 256)  # <- fault
        self.done(block.value)
        return frame

    def done(self, block: int | None) -> None:
        """The block has had its use."""


class Repaired(Faulty):
    """Frees it."""

    def done(self, block: int | None) -> None:
        """The block has had its use."""
        free(block)


FAULT = Fault(
    about="a native block per frame, from posix_memalign",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*24",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
