"""Backends with a thread of their own that bad frames upset, beside the repaired twin."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import numpy as np


def negative(frame: Any) -> Any:
    """The work, for uint8 RGB frames that have pixels."""
    data = frame.data
    if frame.format != "rgb24" or data.dtype != np.uint8 or data.ndim != 3 or not data.size:
        raise ValueError(f"can't take a frame of {data.dtype} {data.shape} in {frame.format}")
    return 255 - data


class Threaded:
    """Works on a thread; an error is brought to get_result."""

    def __init__(self) -> None:
        self._todo: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._submitted = self._finished = 0
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while (frame := self._todo.get()) is not None:
            try:
                self._done.put(negative(frame))
            except ValueError as error:
                self.failed(str(error))

    def failed(self, text: str) -> None:
        self._done.put(text)

    def execute(self, frame: Any) -> None:
        self._todo.put(frame)

    def get_result(self) -> Any:
        try:
            done = self._done.get_nowait()
        except queue.Empty:
            return None
        if isinstance(done, str):
            raise ValueError(done)
        return done

    def flush(self) -> None:
        while not self._todo.empty():
            time.sleep(0.001)

    def close(self) -> None:
        self._todo.put(None)
        self._thread.join()


class ThreadDies(Threaded):
    """The worker ends with the first error; later frames are lost, and flush waits for ever."""

    def failed(self, text: str) -> None:
        super().failed(text)
        raise SystemExit
