"""A failed frame's request never goes back to the pool: FFmpeg after one failed allocation."""

from __future__ import annotations

import queue
from typing import Any

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """One request, taken for each frame and always put back."""

    def __init__(self) -> None:
        self._idle: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
        self._idle.put(bytearray(64))
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def execute(self, frame: Frame) -> None:
        """Take a request, work, give it back."""
        request = self._idle.get()  # <- fault
        try:
            self.infer(frame)
        except ValueError:
            self.failed(request)
            raise
        self._done.put(frame)
        self._idle.put(request)

    def infer(self, frame: Frame) -> None:
        """Raise ValueError for what is no picture."""
        if frame.data.dtype != "uint8" or frame.data.size == 0:
            raise ValueError("can't take this frame")

    def failed(self, request: bytearray) -> None:
        """The frame of this request failed."""
        self._idle.put(request)

    def get_result(self) -> Any:
        """The next result, None if none is ready."""
        return None if self._done.empty() else self._done.get()

    def flush(self) -> None:
        """Nothing is ever in flight."""

    def close(self) -> None:
        """Nothing is held."""


class Faulty(Repaired):
    """Forgets the request when a frame fails."""

    def failed(self, request: bytearray) -> None:
        """The frame of this request failed."""


FAULT = Fault(
    about="the request of a frame that failed is not returned to the pool",
    rule="error-path",
    kind="hang",
    timeout=4,
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
