# ruff: noqa: ARG002 - signatures are given
"""Small backends with threads of their own, or that hold frames back.

Faulty lines are marked as in planted.py.
"""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

import torch


class AllocatingWorker:
    """A thread of the backend's own makes a buffer per frame."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._pending = 0
        self._thread = threading.Thread(target=self._work, name="worker")
        self._thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            self.process(frame)
            self._out.put(frame)
            frame = None

    def process(self, frame: Any) -> None:
        torch.ones(64)  # fault: AllocatingWorker

    def execute(self, frame: Any) -> None:
        self._pending += 1
        self._in.put(frame)

    def get_result(self) -> Any:
        if self._out.empty():
            return None
        self._pending -= 1
        return self._out.get()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if self._thread.is_alive():
            self._in.put(None)
            self._thread.join()


class AllocatingWorkerRepaired(AllocatingWorker):
    def process(self, frame: Any) -> None:
        pass


class SleepingWorker(AllocatingWorker):
    """Its thread sleeps over each frame, as if it waited for a device."""

    def process(self, frame: Any) -> None:
        time.sleep(0.01)

    def flush(self) -> None:
        while self._out.qsize() < self._pending:
            time.sleep(0.001)


class SlowNowAndThen(SleepingWorker):
    """As if it waited for another process, which is slow with each fifth frame."""

    def process(self, frame: Any) -> None:
        time.sleep(0.4 if frame.pts % 5 == 1 else 0.01)


class Pool:
    """Three threads of the backend's own; one of them allocates twice as often per frame."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work) for _ in range(3)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            buffer = torch.ones(64)
            if frame.pts % 3 == 0:
                buffer = torch.zeros(2048)
            del buffer
            self._out.put(frame)
            frame = None

    def execute(self, frame: Any) -> None:
        self._in.put(frame)

    def get_result(self) -> Any:
        return None if self._out.empty() else self._out.get()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        for _ in self._threads:
            self._in.put(None)
        for thread in self._threads:
            thread.join()


class _Holds:
    """Holds frames back. Counts only, so that it allocates nothing itself."""

    def __init__(self) -> None:
        self.submitted = 0
        self._returned = 0
        self._flushed = False

    def execute(self, frame: Any) -> None:
        self.submitted += 1

    def held(self) -> int:
        raise NotImplementedError

    def get_result(self) -> Any:
        if self.submitted - self._returned > (0 if self._flushed else self.held()):
            self._returned += 1
            return True
        return None

    def flush(self) -> None:
        self._flushed = True

    def close(self) -> None:
        pass


class LagsTwo(_Holds):
    def held(self) -> int:
        return 2


class HoldsUntilFlush(_Holds):
    def held(self) -> int:
        return 1000


class Batches(_Holds):
    """Every fourth frame releases four."""

    def held(self) -> int:
        return self.submitted % 4


class SpinningWorker(AllocatingWorker):
    """Its thread is busy for a while over each frame, without the interpreter lock."""

    def __init__(self) -> None:
        super().__init__()
        self._matrix = torch.zeros(400, 400)
        self._result = torch.zeros(400, 400)

    def process(self, frame: Any) -> None:
        for _ in range(20):
            torch.mm(self._matrix, self._matrix, out=self._result)
