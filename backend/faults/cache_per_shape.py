"""A cache with an entry for each resolution, and no bound."""

from __future__ import annotations

from collections import OrderedDict

from backend.faults.fault import Fault
from backend.frame import Frame

_SIZES = [(32 + 2 * n, 32) for n in range(14)]


class Faulty:
    """Keeps all."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[int, int], bytearray] = OrderedDict()

    def __call__(self, frame: Frame) -> Frame:
        size = frame.width, frame.height
        if size not in self._cache:
            self._cache[size] = bytearray(3000)  # <- fault
            self.evict()
        return frame

    def evict(self) -> None:
        """Bound the cache."""


class Repaired(Faulty):
    """Keeps the last two."""

    def evict(self) -> None:
        """Bound the cache."""
        if len(self._cache) > 2:
            self._cache.popitem(last=False)


FAULT = Fault(
    about="a cache keyed by shape has no bound",
    rule="steady-growth",
    kind="unbounded-cache",
    workload="64x64@25*9," + ",".join(f"{width}x{height}@25*9" for width, height in _SIZES),
    faulty=Faulty,
    repaired=Repaired,
)
