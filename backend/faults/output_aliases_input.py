"""The output is a view of the persistent input: the next frame of a burst overwrites it."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Puts out its input buffer."""

    def __init__(self) -> None:
        self._buffer = np.zeros((32, 32, 3), np.uint8)

    def __call__(self, frame: Frame) -> Any:
        self._buffer[...] = frame.data
        return self.output()

    def output(self) -> Any:
        """What is handed out."""
        return self._buffer[:]


class Repaired(Faulty):
    """Puts out a copy."""

    def output(self) -> Any:
        """What is handed out."""
        return self._buffer.copy()


FAULT = Fault(
    about="an output that aliases the persistent input",
    rule="output",
    kind="other-frame",
    level="zero-growth",
    workload="32x32@100*16",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
