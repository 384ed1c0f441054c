"""Results bear the time stamp of the frame before."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Stamps a result with what it last took in."""

    def __init__(self) -> None:
        self._pts: int | None = None

    def __call__(self, frame: Frame) -> Frame:
        result = Frame(frame.data, frame.format, pts=self.stamp(frame))
        self._pts = frame.pts
        return result

    def stamp(self, frame: Frame) -> int:
        """The result's time stamp."""
        return frame.pts if self._pts is None else self._pts


class Repaired(Faulty):
    """Stamps it with its own."""

    def stamp(self, frame: Frame) -> int:
        """The result's time stamp."""
        return frame.pts


FAULT = Fault(
    about="results bear the time stamp of another frame",
    rule="output",
    kind="wrong-pts",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
