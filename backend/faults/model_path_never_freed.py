"""A copy of the model's path that no close frees: 31 bytes each time."""

from __future__ import annotations

from backend.faults._native import raw_free, raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame

_LENGTH = 31


class Faulty:
    """Copies an option on open."""

    def __init__(self) -> None:
        self._path = raw_malloc(_LENGTH)  # <- fault

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Frees the copy."""

    def close(self) -> None:
        """Release the path."""
        raw_free(self._path)


FAULT = Fault(
    about="31 bytes of a path are never freed",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
