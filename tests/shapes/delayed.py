"""Backends whose results come later, each by its way in of docs/other-backends.md; all sound."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from tests.shapes.shapes import Buffer, Pixels

# the protocol in coroutine functions


class Asynchronous:
    """Works in a task of its own, which is there from the first frame until close."""

    def __init__(self) -> None:
        self._buffer = Buffer()
        self._frames: deque[Any] = deque()
        self._results: deque[Pixels] = deque()

    async def execute(self, frame: Any) -> None:
        self._frames.append(frame)

    async def get_result(self) -> Pixels | None:
        async for pixels in self._finished():
            self._results.append(pixels)
        return self._results.popleft() if self._results else None

    async def _finished(self) -> AsyncIterator[Pixels]:
        while self._frames:
            await asyncio.sleep(0)
            yield self._buffer.inverted(self._frames.popleft().data).copy()

    async def flush(self) -> None: ...

    async def close(self) -> None:
        self._frames.clear()


# results by a callback


def inverted(frame: Any) -> Pixels | Exception:
    try:
        return np.invert(frame.data)
    except Exception as error:
        return error.with_traceback(None)


def result_of(made: Pixels | Exception) -> Pixels:
    if isinstance(made, Exception):
        try:
            raise made
        finally:
            del made  # or the exception and this frame would hold each other
    return made


class CallsBack:
    """The user's: works on a thread, and calls a function with each result, on that thread."""

    def __init__(self, callback: Callable[[Pixels], None]) -> None:
        self._callback = callback
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def submit(self, frame: Any) -> None:
        self._frames.put(frame)

    def stop(self) -> None:
        if self._thread.is_alive():
            self._frames.put(None)
            self._thread.join()

    def _run(self) -> None:
        while (frame := self._frames.get()) is not None:
            self._callback(inverted(frame))
            del frame


class Callback:
    """A queue takes in what the callback is called with."""

    def __init__(self) -> None:
        self._results: queue.SimpleQueue[Pixels] = queue.SimpleQueue()
        self._filter = CallsBack(self._results.put)
        self._held = 0

    def execute(self, frame: Any) -> None:
        self._held += 1
        self._filter.submit(frame)

    def get_result(self) -> Pixels | None:
        if self._results.empty():
            return None
        self._held -= 1
        return result_of(self._results.get())

    def flush(self) -> None:
        for result in [self._results.get() for _ in range(self._held)]:
            self._results.put(result)

    def close(self) -> None:
        self._filter.stop()


# a pool of threads


class Pool:
    """Results are taken in the order of submission."""

    def __init__(self) -> None:
        # One thread: of several, which one serves a frame, and so has its first use then, is up to
        # the scheduler.
        self._pool = ThreadPoolExecutor(1)
        self._futures: deque[Future[Pixels]] = deque()

    def execute(self, frame: Any) -> None:
        self._futures.append(self._pool.submit(np.invert, frame.data))

    def get_result(self) -> Pixels | None:
        if self._futures and self._futures[0].done():
            return self._futures.popleft().result()
        return None

    def flush(self) -> None:
        for future in self._futures:
            future.exception()

    def close(self) -> None:
        self._pool.shutdown()
        self._futures.clear()


# batches: results come when there are enough frames, or at flush


class Batches:
    SIZE = 3

    def __init__(self) -> None:
        self._waiting: list[Any] = []
        self._results: deque[Pixels] = deque()

    def execute(self, frame: Any) -> None:
        self._waiting.append(frame)
        if len(self._waiting) == self.SIZE:
            self.flush()

    def get_result(self) -> Pixels | None:
        return result_of(self._results.popleft()) if self._results else None

    def flush(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            self._results.extend(np.invert(np.stack([frame.data for frame in batch])))
        except Exception:  # one bad frame must not take the others with it
            self._results.extend(map(inverted, batch))

    def close(self) -> None:
        self._waiting.clear()
        self._results.clear()
