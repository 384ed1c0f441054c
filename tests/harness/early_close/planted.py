"""Backends that are sound as long as nobody closes them with frames in flight, and one that is."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from typing import Any

_open: dict[int, deque[Any]] = {}
"""results of every backend that is open, as a C library keeps its contexts"""


class Sound:
    """Gives everything back, whenever it is closed."""

    def __init__(self) -> None:
        self._results = _open[id(self)] = deque()

    def execute(self, frame: Any) -> None:
        self._results.append(frame)

    def get_result(self) -> Any:
        return self._results.popleft() if self._results else None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        _open.pop(id(self), None)

    @property
    def in_flight(self) -> int:
        return len(self._results)


class LeavesQueue(Sound):
    """Its close takes a queue away only if it is empty."""

    def close(self) -> None:
        if not self.in_flight:
            super().close()
        else:
            _open[time.monotonic_ns()] = _open.pop(id(self), deque())


class LeavesThread(Sound):
    """Its close has somebody wait for the rest, for ever."""

    def close(self) -> None:
        if self.in_flight:
            threading.Thread(target=self._wait, name="waits", daemon=True).start()
        super().close()

    @staticmethod
    def _wait() -> None:
        threading.Event().wait()


class Crashes(Sound):
    """Its close frees what an inference still uses."""

    def close(self) -> None:
        if self.in_flight:
            os.abort()
        super().close()


class Hangs(Sound):
    """Its close waits for somebody to collect the results."""

    def close(self) -> None:
        if self.in_flight:
            time.sleep(1000)
        super().close()


class Raises(Sound):
    """Its close refuses."""

    def close(self) -> None:
        if self.in_flight:
            raise RuntimeError("frames are in flight")
        super().close()
