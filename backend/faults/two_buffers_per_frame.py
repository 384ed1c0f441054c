"""Scratch memory built and freed for each frame, as FFmpeg builds two scaler contexts."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Makes its scratch where it needs it."""

    def __call__(self, frame: Frame) -> Frame:
        scratch = bytearray(1000)  # <- fault
        scratch[0] = 1
        return frame


class Repaired:
    """Made it once."""

    def __init__(self) -> None:
        self._scratch = bytearray(1000)

    def __call__(self, frame: Frame) -> Frame:
        self._scratch[0] = 1
        return frame


FAULT = Fault(
    about="scratch memory is built and freed for each frame",
    rule="steady-allocations",
    kind="churn",
    faulty=Faulty,
    repaired=Repaired,
)
