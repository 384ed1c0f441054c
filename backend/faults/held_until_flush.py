"""No result comes before flush: a longer stream needs more memory."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Results are there at once."""

    def __init__(self) -> None:
        self._done: list[Frame] = []
        self._flushed = False

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._done.append(frame)

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        return self._done.pop(0) if self._done and self.ready() else None

    def ready(self) -> bool:
        """Whether results may be had."""
        return True

    def flush(self) -> None:
        """All results may be had."""
        self._flushed = True

    def close(self) -> None:
        """Nothing is held."""
        self._done.clear()


class Faulty(Repaired):
    """Waits for flush."""

    def ready(self) -> bool:
        """Whether results may be had."""
        return self._flushed


FAULT = Fault(
    about="all results are held back until flush",
    rule="bounded-in-flight",
    kind="unbounded-in-flight",
    level="zero-growth",
    workload="32x32@25*16",
    cycles=1,
    faulty=Faulty,
    repaired=Repaired,
)
