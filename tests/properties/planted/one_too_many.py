"""Has one frame more in flight than it has requests."""

from __future__ import annotations

import dataclasses
from typing import Any

from backend.frame import Frame
from backend.reference import TorchBackend
from backend.stats import BackendStats


class Faulty:
    """Begins to work when the next frame would be one too many, and counts from 0."""

    spare = 1

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = TorchBackend(*args, **options)
        self.nireq = 2
        self._in_hand: list[Frame] = []
        self._most = 0

    def execute(self, frame: Frame) -> None:
        if len(self._in_hand) == self.nireq + self.spare:
            self._inner.execute(self._in_hand.pop(0))
        self._in_hand.append(frame)
        self._most = max(self._most, len(self._in_hand))

    def get_result(self) -> Frame | None:
        return self._inner.get_result()

    def flush(self) -> None:
        while self._in_hand:
            self._inner.execute(self._in_hand.pop(0))

    def close(self) -> None:
        self._in_hand.clear()
        self._inner.close()

    def stats(self) -> BackendStats:
        return dataclasses.replace(self._inner.stats(), peak_in_flight=self._most)


class Repaired(Faulty):
    """Counts from 1."""

    spare = 0
