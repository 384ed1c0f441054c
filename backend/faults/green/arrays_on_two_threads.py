"""Two threads that make small arrays have more at once now and then, by the scheduler: numpy's list
of blocks for their dimensions lacks one then, once, and takes it from malloc."""

from __future__ import annotations

from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from backend.faults.fault import Green
from backend.frame import Frame

_OVERLAPPING = 25
"""the frame on which both threads have one: here it is no chance, so that it is met each time"""
_KEPT = 10
"""more than the list has"""


def _views(data: Any) -> list[Any]:
    return [data[row:] for row in range(3)]


class Backend:
    """Looks at every frame on two threads, one after the other but for one frame."""

    def __init__(self) -> None:
        self._kept = [np.empty((8, 8, 3), np.uint8) for _ in range(_KEPT)]
        self._frames = 0
        self._asked: SimpleQueue[Any] = SimpleQueue()
        self._told: SimpleQueue[None] = SimpleQueue()
        self._worker = Thread(target=self._work)
        self._worker.start()

    def _work(self) -> None:
        while (data := self._asked.get()) is not None:
            views = _views(data)
            del views
            self._told.put(None)

    def __call__(self, frame: Frame) -> Frame:
        """Give the frame back."""
        self._frames += 1
        views = _views(frame.data)
        if self._frames != _OVERLAPPING:
            del views
        self._asked.put(frame.data)
        self._told.get()
        return frame

    def close(self) -> None:
        """End the worker, which refers to the backend."""
        self._asked.put(None)
        self._worker.join()


GREEN = Green(
    about="two threads make arrays at once for a moment",
    level="zero-owned",
    workload="32x32@25*60",
    backend=Backend,
)
