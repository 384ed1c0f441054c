"""16 bytes lost on every 97th frame."""

from __future__ import annotations

from backend.faults._native import raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Counts frames."""

    def __init__(self) -> None:
        self._frames = 0

    def __call__(self, frame: Frame) -> Frame:
        self._frames += 1
        if self._frames % 97 == 0:
            self.key_frame()
        return frame

    def key_frame(self) -> None:
        """What happens now and then."""


class Faulty(Repaired):
    """Loses a block."""

    def key_frame(self) -> None:
        """What happens now and then."""
        raw_malloc(16)  # <- fault


FAULT = Fault(
    about="16 bytes lost on every 97th frame",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="16x16@25*400",
    faulty=Faulty,
    repaired=Repaired,
)
