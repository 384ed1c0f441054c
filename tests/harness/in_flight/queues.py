"""Backends with a thread, whose entrance is bounded or not."""

from __future__ import annotations

import queue
import threading
from typing import Any


class Unbounded:
    """Queues whatever comes."""

    def __init__(self, nireq: int = 2) -> None:
        self.nireq = nireq
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._pending = 0
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            pts, frame = frame.pts, None
            self.finish()
            self._out.put(pts + 1)

    def finish(self) -> None:
        pass

    def execute(self, frame: Any) -> None:
        self._pending += 1
        self._in.put(frame)

    def get_result(self) -> Any:
        if self._out.empty():
            return None
        self._pending -= 1
        return self._out.get()

    def flush(self) -> None:
        while self._out.qsize() < self._pending:
            threading.Event().wait(0.001)

    def close(self) -> None:
        if self._thread.is_alive():
            self._in.put(None)
            self._thread.join()


class Bounded(Unbounded):
    """Blocks while all requests are in flight."""

    def __init__(self, nireq: int = 2) -> None:
        self._free = threading.Semaphore(nireq)
        super().__init__(nireq)

    def finish(self) -> None:
        self._free.release()

    def execute(self, frame: Any) -> None:
        self._free.acquire()
        super().execute(frame)


class Undeclared(Unbounded):
    """Does not say how many requests it has."""

    def __init__(self) -> None:
        super().__init__()
        del self.nireq
