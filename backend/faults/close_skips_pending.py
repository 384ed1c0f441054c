"""Native entries of the pending queue that close does not free."""

from __future__ import annotations

from backend.faults._native import raw_free, raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Takes an entry for the first frame, and uses it for all."""

    def __init__(self) -> None:
        self._entry = 0

    def __call__(self, frame: Frame) -> Frame:
        if not self._entry:
            self._entry = raw_malloc(48)  # <- fault
        return frame


class Repaired(Faulty):
    """Frees the entry."""

    def close(self) -> None:
        """Empty the queue."""
        raw_free(self._entry)


FAULT = Fault(
    about="close does not free the entries of the pending queue",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
