"""The output is made anew for each frame, and the one before is dropped."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Replaces its output."""

    def __init__(self) -> None:
        self._output = bytearray()

    def __call__(self, frame: Frame) -> Frame:
        self.prepare(frame.data.nbytes)
        self._output[0] = 1
        return frame

    def prepare(self, nbytes: int) -> None:
        """Have an output of this size."""
        self._output = bytearray(nbytes)  # <- fault


class Repaired(Faulty):
    """Uses it again."""

    def prepare(self, nbytes: int) -> None:
        """Have an output of this size."""
        if len(self._output) < nbytes:
            self._output = bytearray(nbytes)


FAULT = Fault(
    about="the output is made anew for each frame instead of used again",
    rule="steady-allocations",
    kind="turnover",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
