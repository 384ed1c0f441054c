"""A filter that keeps its input is given a view of a buffer that is used again."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Works on a frame when the next one is there, one frame behind."""

    def __init__(self) -> None:
        self._buffer = np.zeros((32, 32, 3), np.uint8)
        self._kept: Any = None
        self._ready: list[Any] = []

    def execute(self, frame: Frame) -> None:
        """Take in a frame, put out the one before."""
        self._buffer[...] = frame.data
        self._work()
        self._kept = self.input()

    def input(self) -> Any:
        """What the filter is given, and keeps."""
        return self._buffer[:]

    def _work(self) -> None:
        if self._kept is not None:
            self._ready.append(255 - self._kept)

    def get_result(self) -> Any:
        """The next result, None if none is ready."""
        return self._ready.pop(0) if self._ready else None

    def flush(self) -> None:
        """Put out the last frame."""
        self._work()
        self._kept = None

    def close(self) -> None:
        """Nothing is held."""
        self._ready.clear()


class Repaired(Faulty):
    """The filter owns what it keeps."""

    def input(self) -> Any:
        """What the filter is given, and keeps."""
        return self._buffer.copy()


FAULT = Fault(
    about="a filter keeps a view of an input buffer that is used again",
    rule="output",
    kind="other-frame",
    level="zero-growth",
    workload="32x32@25*5",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
