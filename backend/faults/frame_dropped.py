"""The first frame of a new size is used to set up, and never served."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Sets up, and serves the frame."""

    def __init__(self) -> None:
        self._width = 0
        self._done: list[Frame] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        known = self._width in (0, frame.width)
        self._width = frame.width
        if known or self.serves_first():
            self._done.append(frame)

    def serves_first(self) -> bool:
        """Whether the first frame of a new size is served."""
        return True

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._done.pop(0) if self._done else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Nothing is held."""
        self._done.clear()


class Faulty(Repaired):
    """Sets up only."""

    def serves_first(self) -> bool:
        """Whether the first frame of a new size is served."""
        return False


FAULT = Fault(
    about="the first frame of a new size has no result",
    rule="output",
    kind="missing-result",
    level="zero-growth",
    workload="32x32@25*6,40x40@25*6",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
