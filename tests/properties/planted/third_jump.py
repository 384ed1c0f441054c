"""Keeps one more buffer at the third change of resolution, and at no other."""

from __future__ import annotations

import torch

from backend.frame import Frame
from backend.reference import TorchBackend
from backend.request import InferRequest

JUMP = 3


class Faulty(TorchBackend):
    """Remembers what it was made for, in a table that is made larger when it is full."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self._size: tuple[int, int] | None = None
        self._jumps = 0
        self._table = torch.empty(self.room(), dtype=torch.uint8)

    def room(self) -> int:
        return JUMP

    def _fill(self, request: InferRequest, frame: Frame) -> None:
        size = (frame.width, frame.height)
        if self._size not in (None, size):
            self._jumps += 1
            if self._jumps == self.room():
                self._table = torch.empty(2 * JUMP, dtype=torch.uint8)
        self._size = size
        super()._fill(request, frame)


class Repaired(Faulty):
    """Has a table with room for every jump that there may be."""

    def room(self) -> int:
        return 4096
