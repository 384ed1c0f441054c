"""`__del__` hands the object to a pool that nobody takes from: it is alive again."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame

_pool: list[object] = []


class Buffer:
    """Memory for a frame."""

    def __init__(self) -> None:
        self.memory = bytearray(5000)  # <- fault


class Undead(Buffer):
    """Comes back to the pool when it is dropped."""

    def __del__(self) -> None:
        _pool.append(self)


class Faulty:
    """Makes a buffer for each instance."""

    def __init__(self) -> None:
        self._buffer = Undead()

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired:
    """Makes one that stays dropped."""

    def __init__(self) -> None:
        self._buffer = Buffer()

    def __call__(self, frame: Frame) -> Frame:
        return frame


FAULT = Fault(
    about="__del__ resurrects its object into a pool that only grows",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
