"""The first result of a new size comes twice: what was in hand is delivered again."""

from __future__ import annotations

from collections import deque

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Delivers each frame once."""

    def __init__(self) -> None:
        self._width = 0
        self._done: deque[Frame] = deque()

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        changed = self._width not in (0, frame.width)
        self._width = frame.width
        self._done.append(frame)
        if changed:
            self.changed(frame)

    def changed(self, frame: Frame) -> None:
        """This frame is the first of a new size."""

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._done.popleft() if self._done else None

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Drop what nobody took."""
        self._done.clear()


class Faulty(Repaired):
    """Delivers it again."""

    def changed(self, frame: Frame) -> None:
        """Make sure that it is seen."""
        self._done.append(frame)


FAULT = Fault(
    about="the first result of a new size comes twice",
    rule="output",
    kind="extra-result",
    level="zero-growth",
    workload="32x32@25*6,40x40@25*6",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
