"""A buffer for something rare, made in the middle of a stream instead of on open."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Makes the buffer at the 20th frame."""

    def __init__(self) -> None:
        self._frames = 0
        self._history = bytearray()

    def __call__(self, frame: Frame) -> Frame:
        self._frames += 1
        if self._frames == 20:
            self._history = bytearray(2000)  # <- fault
        return frame


class Repaired:
    """Has it from the start."""

    def __init__(self) -> None:
        self._history = bytearray(2000)

    def __call__(self, frame: Frame) -> Frame:
        return frame


FAULT = Fault(
    about="a buffer is made in the middle of a stream",
    rule="steady-allocations",
    kind="late",
    workload="32x32@25*24",
    faulty=Faulty,
    repaired=Repaired,
)
