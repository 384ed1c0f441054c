"""Backends that say what they hold and where it lies: one rightly, one not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from backend.frame import Frame
from backend.protocol import Region, Shape

SMALL = 100
"""bytes of a block that is no buffer"""


class Right:
    """Has room for the largest frame of grey pixels so far, grow-only, and a small block."""

    formats = ("gray8",)

    def __init__(self) -> None:
        self.kept = np.empty(0, np.uint8)
        self.small = np.empty(SMALL, np.uint8)
        self.results: list[Any] = []

    @staticmethod
    def expected_blocks(steps: Sequence[Sequence[Shape]]) -> Iterator[list[int]]:
        largest = 0
        for step in steps:
            largest = max(largest, *(width * height for _, width, height in step))
            yield [largest, SMALL]

    def memory_map(self) -> list[Region]:
        return [Region("kept", 0, self.kept.nbytes, 0, 2, "buffer", self.kept.nbytes)]

    def execute(self, frame: Frame) -> None:
        if frame.data.nbytes > self.kept.nbytes:
            self.kept = np.empty(frame.data.nbytes, np.uint8)
        self.results.append(0)

    def get_result(self) -> Any | None:
        return self.results.pop() if self.results else None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.kept = self.small = np.empty(0, np.uint8)


class Wrong(Right):
    """The same, which says that its buffer is never larger than 64x64, and gives no map."""

    @staticmethod
    def expected_blocks(steps: Sequence[Sequence[Shape]]) -> Iterator[list[int]]:
        return ([64 * 64] for _ in steps)

    def memory_map(self) -> list[Region]:
        return [Region("kept", -1, self.kept.nbytes, 0, 2)]
