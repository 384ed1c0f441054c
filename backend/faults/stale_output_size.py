"""The output's size is that of the first frame: FFmpeg without a new configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Fits its output to a frame of another size one frame too late."""

    def __init__(self) -> None:
        self._size = (0, 0)

    def __call__(self, frame: Frame) -> Any:
        data: Any = frame.data
        before = self._size if self._size[0] else data.shape[:2]
        self._size = data.shape[:2]
        height, width = self.output_size(before)
        output = np.zeros((height, width, 3), np.uint8)
        shared = data[:height, :width]
        output[: shared.shape[0], : shared.shape[1]] = shared
        return output

    def output_size(self, before: tuple[int, ...]) -> tuple[int, ...]:
        """Height and width of the output; `before` is the size of the frame before."""
        return before


class Repaired(Faulty):
    """The output has the size of its frame."""

    def output_size(self, before: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG002
        """Height and width of the output."""
        return self._size


FAULT = Fault(
    about="the output keeps the size of the frame before",
    rule="output",
    kind="stale-size",
    level="zero-growth",
    workload="32x32@25*10,48x32@25*10,32x32@25*10",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
