"""ctypes.POINTER(T * n) is kept by ctypes for ever: here one for each length of a packet."""

from __future__ import annotations

import ctypes

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Makes a type for each packet, whose length is another one each time."""

    def __call__(self, frame: Frame) -> Frame:
        self.point(1000 + frame.pts)
        return frame

    def point(self, length: int) -> None:
        """Prepare a call with a pointer to so many bytes."""
        ctypes.POINTER(ctypes.c_ubyte * length)  # <- fault


class Repaired(Faulty):
    """One type will do for any length."""

    def point(self, length: int) -> None:  # noqa: ARG002
        """Prepare a call with a pointer to bytes."""
        ctypes.POINTER(ctypes.c_ubyte)


FAULT = Fault(
    about="ctypes.POINTER(T * n) keeps a type for every n",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    faulty=Faulty,
    repaired=Repaired,
)
