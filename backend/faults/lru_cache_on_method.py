"""lru_cache on a method: the cache belongs to the class, and its keys pin every instance."""

from __future__ import annotations

from functools import cached_property, lru_cache

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Caches the number of samples."""

    def __init__(self) -> None:
        self._weights = bytearray(5000)  # <- fault

    @lru_cache(maxsize=64)  # noqa: B019 - that is the fault
    def weight_count(self) -> int:
        """How many weights there are."""
        return len(self._weights)

    def __call__(self, frame: Frame) -> Frame:
        self.weight_count()
        return frame


class Repaired:
    """The instance has the value."""

    def __init__(self) -> None:
        self._weights = bytearray(5000)

    @cached_property
    def weight_count(self) -> int:
        """How many weights there are."""
        return len(self._weights)

    def __call__(self, frame: Frame) -> Frame:
        _ = self.weight_count
        return frame


FAULT = Fault(
    about="lru_cache on a method pins every instance",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
