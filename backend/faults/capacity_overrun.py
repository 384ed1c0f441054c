"""The capacity is counted in pixels: float frames of as many pixels do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Compares pixels."""

    def __init__(self) -> None:
        self._buffer = np.zeros(0, np.uint8)
        self._capacity = 0

    def __call__(self, frame: Frame) -> Any:
        if self._capacity < self.need(frame):
            self._capacity = self.need(frame)
            self._buffer = np.zeros(frame.data.nbytes, np.uint8)
        pixels = frame.data.reshape(-1).view(np.uint8)
        # Native code would write past the end; here the rest is missing.
        there = self._buffer[: pixels.size]
        there[...] = pixels[: there.size]
        output = np.zeros(pixels.size, np.uint8)
        output[: there.size] = there
        return output

    def need(self, frame: Frame) -> int:
        """What the frame needs."""
        return frame.width * frame.height


class Repaired(Faulty):
    """Compares bytes."""

    def need(self, frame: Frame) -> int:
        """What the frame needs."""
        return int(frame.data.nbytes)


FAULT = Fault(
    about="capacity compared in pixels: as many pixels of more bytes don't fit",
    rule="output",
    kind="wrong-data",
    level="zero-growth",
    workload="32x32:gray8@25*6,32x32:grayf32@25*6",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
