"""Growth moves the memory of tensors that are out: their pixels become the next frame's."""

from __future__ import annotations

import torch

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Results are parts of one arena, taken in turn; a new arena leaves the old one alone."""

    def __init__(self) -> None:
        self._arena = torch.zeros(0, dtype=torch.uint8)
        self._used = 0

    def __call__(self, frame: Frame) -> torch.Tensor:
        need = frame.data.nbytes
        if self._arena.numel() < 4 * need:
            self.grow(4 * need)
            self._used = 0
        if self._used + need > self._arena.numel():
            self._used = 0
        result = self._arena[self._used : self._used + need]
        self._used += need
        result.copy_(torch.from_numpy(frame.data).reshape(-1))
        return result

    def grow(self, nbytes: int) -> None:
        """Get a larger arena."""
        self._arena = torch.zeros(nbytes, dtype=torch.uint8)


class Faulty(Repaired):
    """Resizes the arena, on which results lie."""

    def grow(self, nbytes: int) -> None:
        """Make the arena larger."""
        self._arena.untyped_storage().resize_(nbytes)
        self._arena.set_(self._arena.untyped_storage(), 0, (nbytes,), (1,))


FAULT = Fault(
    about="growth replaces the memory under tensors that are out",
    rule="output",
    kind="wrong-data",
    level="zero-growth",
    workload="32x32@100*2,48x48@100*14",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
