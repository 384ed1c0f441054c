"""Backends with a fault that only a failure shows, each with its repaired twin.

A fault is a class named for it; its twin is the class that it is derived from, or says so in TWINS.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from typing import Any

import numpy as np
import torch

from backend.frame import Frame


class Plain:
    """One request with a buffer that grows; the result is the frame's negative."""

    def __init__(self) -> None:
        self.buffer = torch.empty(0, dtype=torch.uint8)
        self.capacity = 0
        self.idle: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        self.idle.put([0])
        self.done: deque[Any] = deque()

    def execute(self, frame: Frame) -> None:
        request = self.idle.get()
        try:
            result = self.infer(frame)
        except Exception as error:
            self.failed(request, error)
            return
        self.idle.put(request)
        self.done.append(result)

    def infer(self, frame: Frame) -> Any:
        pixels = torch.from_numpy(frame.data)
        self.reserve(pixels.numel())
        self.stage(pixels)
        return (255 - self.buffer[: pixels.numel()]).numpy().reshape(frame.data.shape)

    def reserve(self, size: int) -> None:
        if self.capacity < size:
            self.buffer = torch.empty(size, dtype=torch.uint8)
            self.capacity = size

    def stage(self, pixels: torch.Tensor) -> None:
        self.buffer[: pixels.numel()].copy_(pixels.reshape(-1))

    def failed(self, request: list[int], error: Exception) -> None:
        self.idle.put(request)
        raise error

    def get_result(self) -> Any:
        return self.done.popleft() if self.done else None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.done.clear()


class RequestNotReturned(Plain):
    def failed(self, request: list[int], error: Exception) -> None:  # noqa: ARG002
        raise error


class CapacityNotReset(Plain):
    def reserve(self, size: int) -> None:
        if self.capacity < size:
            self.capacity = size
            self.buffer = torch.empty(size, dtype=torch.uint8)


class DeliveredThoughCopyFailed(Plain):
    def stage(self, pixels: torch.Tensor) -> None:
        try:
            super().stage(pixels)
        except RuntimeError:
            self.buffer.numpy()[:] = 0


class ErrorForgotten(Plain):
    def failed(self, request: list[int], error: Exception) -> None:  # noqa: ARG002
        self.idle.put(request)


class DiesOfIt(Plain):
    def failed(self, request: list[int], error: Exception) -> None:  # noqa: ARG002
        os.abort()


class KeepsTheFailed(Plain):
    kept: list[np.ndarray[Any, Any]] = []  # noqa: RUF012

    def failed(self, request: list[int], error: Exception) -> None:
        self.kept.append(np.zeros(5_000, np.uint8))
        super().failed(request, error)


class CannotBeClosed(Plain):
    def failed(self, request: list[int], error: Exception) -> None:
        request[0] += 1
        super().failed(request, error)

    def close(self) -> None:
        if self.idle.get_nowait()[0]:
            self.idle.put([1])
            raise ValueError("a request is dirty")


class SpoilsTheNext(Plain):
    """What one instance's failure leaves behind is wrong for those after it."""

    offset = 0

    def infer(self, frame: Frame) -> Any:
        return super().infer(frame) + self.first_offset

    def __init__(self) -> None:
        super().__init__()
        self.first_offset = SpoilsTheNext.offset

    def failed(self, request: list[int], error: Exception) -> None:
        SpoilsTheNext.offset = 1
        super().failed(request, error)


class SaysSomethingElse(Plain):
    def failed(self, request: list[int], error: Exception) -> None:  # noqa: ARG002
        self.idle.put(request)
        raise AttributeError("'NoneType' object has no attribute 'shape'") from None


class CopiesFrames(Plain):
    """Takes numpy's memory, which no operator of torch is asked for."""

    def infer(self, frame: Frame) -> Any:
        return super().infer(Frame(frame.data.copy(), frame.format, pts=frame.pts))


class FailedCopyOfFrames(CopiesFrames):
    def infer(self, frame: Frame) -> Any:
        try:
            return super().infer(frame)
        except MemoryError:
            return np.zeros_like(frame.data)


_table: list[torch.Tensor | None] = []


class Lazy(Plain):
    """Makes a table for the whole process on first use."""

    def infer(self, frame: Frame) -> Any:
        if not _table:
            _table.append(torch.arange(256).flip(0).to(torch.uint8))
        assert _table[0] is not None
        return super().infer(frame)


class HalfInitialised(Lazy):
    def infer(self, frame: Frame) -> Any:
        if not _table:
            _table.append(None)
            _table[0] = torch.arange(256).flip(0).to(torch.uint8)
        if _table[0] is None:
            raise ValueError("the table is not there")
        return super().infer(frame)


class TwoThreads(Plain):
    """Two threads, for nothing but to be started and stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.stopped = threading.Event()
        self.threads: list[threading.Thread] = []
        try:
            for _ in range(2):
                thread = threading.Thread(target=self.stopped.wait, daemon=True)
                thread.start()
                self.threads.append(thread)
        except RuntimeError:
            self.half_open()
            raise

    def half_open(self) -> None:
        self.close()

    def close(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        super().close()


class FirstThreadLeft(TwoThreads):
    def half_open(self) -> None:
        pass


class OnWorker(Plain):
    """Infers on a thread of its own; what fails there comes out of get_result."""

    def __init__(self) -> None:
        super().__init__()
        self.todo: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while (frame := self.todo.get()) is not None:
            try:
                self.done.append(self.infer(frame))
            except RuntimeError as error:
                self.worker_failed(error)
            del frame

    def worker_failed(self, error: RuntimeError) -> None:
        self.done.append(RuntimeError(str(error)))

    def execute(self, frame: Frame) -> None:
        self.todo.put(frame)

    def flush(self) -> None:
        pass

    def get_result(self) -> Any:
        result = super().get_result()
        if isinstance(result, RuntimeError):
            raise result
        return result

    def close(self) -> None:
        self.todo.put(None)
        self.thread.join()
        super().close()


class WorkerDeliversTheLast(OnWorker):
    """As FFmpeg's worker, which does not look at what the inference returns."""

    def worker_failed(self, error: RuntimeError) -> None:  # noqa: ARG002
        self.done.append(np.zeros((1, 1, 3), np.uint8))


class Fails:
    """Even without a failure."""

    def __init__(self) -> None:
        raise ValueError("not my day")
