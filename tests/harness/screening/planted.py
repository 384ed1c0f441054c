"""Backends with one planted fault each, on a line that ends in `# fault NAME`, and clean twins."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections import deque
from typing import Any

import numpy as np
import torch

_LIBC = ctypes.CDLL(None)
_MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("malloc", _LIBC))
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("free", _LIBC))
_MEMALIGN = _LIBC.posix_memalign
_MEMALIGN.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_size_t]
_RAW = ctypes.pythonapi.PyMem_RawMalloc
_RAW.restype, _RAW.argtypes = ctypes.c_void_p, [ctypes.c_size_t]


class _Backend:
    """Works on each frame as it comes: `process` is what the others differ in."""

    def __init__(self) -> None:
        self.ready = 0
        self.frame = 0
        self.setup()

    def setup(self) -> None:
        pass

    def process(self, frame: Any) -> None:
        raise NotImplementedError

    def execute(self, frame: Any) -> None:
        self.process(frame)
        self.frame += 1
        self.ready += 1

    def get_result(self) -> Any:
        if not self.ready:
            return None
        self.ready -= 1
        return True

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class Clean(_Backend):
    """Allocates tensors, arrays and objects with each frame, and keeps none of them."""

    def setup(self) -> None:
        self.last: Any = None

    def process(self, frame: Any) -> None:
        x = torch.from_numpy(frame.data).float()
        pair = (self.frame, [self.frame, {"frame": self.frame}])
        y = x.mul(2.0).add(torch.tensor(1.5))
        _FREE(_MALLOC(16))
        self.last = (pair, np.zeros(200, np.uint8), tuple(n for n in range(5)))
        del y


class EveryFiftieth(Clean):
    """A small object every fiftieth frame."""

    kept: list[Any] = []  # noqa: RUF012 - shared by all instances: that is the fault

    def process(self, frame: Any) -> None:
        super().process(frame)
        if self.frame % 50 == 49:
            self.kept.append(object())  # fault EveryFiftieth


class TuplePerFrame(Clean):
    """A tuple per frame, of a size that other code makes and drops at the same time."""

    def setup(self) -> None:
        super().setup()
        self.kept: list[Any] = []

    def process(self, frame: Any) -> None:
        super().process(frame)
        key = (self.frame, frame)
        del key
        self.kept.append((self.ready, None))  # fault TuplePerFrame


class RingOf500(Clean):
    """Clean: full after 500 frames."""

    def setup(self) -> None:
        super().setup()
        self.ring: deque[tuple[int]] = deque(maxlen=500)
        for _ in range(500):  # its own blocks are made now
            self.ring.append((0,))
        self.ring.clear()

    def process(self, frame: Any) -> None:
        super().process(frame)
        self.ring.append((1_000 + self.frame,))


class TuplePerCycle(Clean):
    """A tuple that each instance leaves behind."""

    kept: list[Any] = []  # noqa: RUF012 - shared by all instances: that is the fault

    def close(self) -> None:
        self.kept.append((self.ready, None))  # fault TuplePerCycle


class MallocPerFrame(Clean):
    """A block from malloc, called through a pointer, among lines that allocate and free."""

    def process(self, frame: Any) -> None:
        x = np.zeros(3000, np.uint8)
        super().process(frame)
        _MALLOC(16)  # fault MallocPerFrame
        del x


class MallocEveryFiftieth(Clean):
    """The same every fiftieth frame."""

    def process(self, frame: Any) -> None:
        super().process(frame)
        if self.frame % 50 == 49:
            _MALLOC(16)  # fault MallocEveryFiftieth


class MallocPerCycle(Clean):
    """The same once per cycle."""

    def close(self) -> None:
        _MALLOC(16)  # fault MallocPerCycle


class MallocPerChange(Clean):
    """The same at each change of resolution."""

    def setup(self) -> None:
        super().setup()
        self.shape: Any = None

    def process(self, frame: Any) -> None:
        super().process(frame)
        if frame.data.shape != self.shape:
            self.shape = frame.data.shape
            _MALLOC(16)  # fault MallocPerChange


class Memalign(Clean):
    """posix_memalign through ctypes."""

    def process(self, frame: Any) -> None:
        super().process(frame)
        pointer = ctypes.c_void_p()
        _MEMALIGN(ctypes.byref(pointer), 64, 100)  # fault Memalign


class RawMalloc(Clean):
    """The interpreter's own malloc, of which a tracer sees the call."""

    def process(self, frame: Any) -> None:
        super().process(frame)
        _RAW(16)  # fault RawMalloc


class MallocOnWorker(Clean):
    """A block from malloc per frame, on a thread of the backend's that lives as long as it does."""

    def setup(self) -> None:
        super().setup()
        self._frames: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def execute(self, frame: Any) -> None:
        self._frames.put(frame)

    def _work(self) -> None:
        while (frame := self._frames.get()) is not None:
            super().process(frame)
            self.leak()
            self.ready += 1
            del frame

    def leak(self) -> None:
        _MALLOC(16)  # fault MallocOnWorker

    def close(self) -> None:
        self._frames.put(None)
        self._thread.join()


class CleanOnWorker(MallocOnWorker):
    """The same without the fault."""

    def leak(self) -> None:
        _FREE(_MALLOC(16))


class Raises(Clean):
    """Fails in the middle of a long run."""

    def process(self, frame: Any) -> None:
        super().process(frame)
        if self.frame == 300:
            raise ValueError("at frame 300")
