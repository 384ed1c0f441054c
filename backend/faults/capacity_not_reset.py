"""The capacity is set before the allocation, and stays when that fails."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Copies through a buffer; a frame for which there is no memory is passed on as it is."""

    def __init__(self) -> None:
        self._buffer = np.zeros(0, np.uint8)
        self._capacity = 0
        self._memory_is_short = True

    def __call__(self, frame: Frame) -> Any:
        try:
            self.reserve(frame.data.nbytes)
        except MemoryError:
            return frame.data
        # Native code would write past the end; here the rest is missing.
        output = np.zeros(frame.data.size, np.uint8)
        there = self._buffer[: frame.data.size]
        there[...] = frame.data.reshape(-1)[: there.size]
        output[: there.size] = there
        return output.reshape(frame.data.shape)

    def reserve(self, nbytes: int) -> None:
        """Grow, if need be."""
        if nbytes > self._capacity:
            self._capacity = nbytes
            self._buffer = self.allocate(nbytes)

    def allocate(self, nbytes: int) -> Any:
        """New memory; the first large request fails."""
        if nbytes > 4096 and self._memory_is_short:
            self._memory_is_short = False
            raise MemoryError
        return np.zeros(nbytes, np.uint8)


class Repaired(Faulty):
    """The capacity is that of memory which is there."""

    def reserve(self, nbytes: int) -> None:
        """Grow, if need be."""
        if nbytes > self._capacity:
            self._buffer = self.allocate(nbytes)
            self._capacity = nbytes


FAULT = Fault(
    about="a growing allocation fails, and the capacity says that it didn't",
    rule="output",
    kind="wrong-data",
    level="zero-growth",
    workload="32x32@25*6,48x48@25*6",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
