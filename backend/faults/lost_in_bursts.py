"""A block lost for each frame beyond the eighth that is in flight."""

from __future__ import annotations

from backend.faults._native import raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Holds the frames of a burst."""

    def __init__(self) -> None:
        self._held: list[Frame] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._held.append(frame)
        if len(self._held) > 8:
            self.overflow()

    def overflow(self) -> None:
        """More than eight are in flight."""

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._held.pop(0) if self._held else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Nothing is held."""
        self._held.clear()


class Faulty(Repaired):
    """Loses a block."""

    def overflow(self) -> None:
        """More than eight are in flight."""
        raw_malloc(16)  # <- fault


FAULT = Fault(
    about="a leak only above eight frames in flight",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*12,32x32@250*60",
    faulty=Faulty,
    repaired=Repaired,
)
