"""Frames that wait when the backend is closed stay in a native queue: memory that nobody frees."""

from __future__ import annotations

from backend.faults._native import raw_free, raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Each frame has a native task until its result is taken."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Frame, int]] = []

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        task = raw_malloc(600)  # <- fault
        self._waiting.append((frame, task))

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        if not self._waiting:
            return None
        frame, task = self._waiting.pop(0)
        raw_free(task)
        return frame

    def flush(self) -> None:
        """Nothing to be done."""

    def close(self) -> None:
        """Forget what waits."""
        self._waiting.clear()


class Repaired(Faulty):
    """Frees what waits."""

    def close(self) -> None:
        """Take out what waits."""
        while self.get_result() is not None:
            pass


FAULT = Fault(
    about="tasks of frames in flight at close are never freed",
    rule="teardown-release",
    kind="leak-per-cycle",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
