"""Results are handed out as they get done, the second of two before the first."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Last in, first out."""

    at = -1

    def __init__(self) -> None:
        self._done: list[Frame] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._done.append(frame)

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._done.pop(self.at) if self._done else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Nothing is held."""
        self._done.clear()


class Repaired(Faulty):
    """First in, first out."""

    at = 0


FAULT = Fault(
    about="results come out of order",
    rule="output",
    kind="out-of-order",
    level="zero-growth",
    workload="32x32@50*16",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
