# ruff: noqa: RUF012 - what a class shares is the fault
"""A backend without torch, sound and with a handful of faults, for tools that torch is slow in."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from typing import Any

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]


class Sound:
    """Keeps one grow-only buffer and gives it back."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if len(self._buffer) < frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)
        return frame

    def close(self) -> None:
        self._buffer = bytearray()


class Churn(Sound):
    """A buffer made for each frame and freed with it."""

    def __call__(self, frame: Any) -> Any:
        bytearray(frame.data.nbytes)
        return super().__call__(frame)


class Lost(Sound):
    """16 bytes of C memory lost on each 50th frame."""

    def __call__(self, frame: Any) -> Any:
        if self._frames % 50 == 0:
            _libc.malloc(16)
        return super().__call__(frame)


class Kept(Sound):
    """A tuple kept per frame, in a list of the class: reachable for ever."""

    kept: list[Any] = []

    def __call__(self, frame: Any) -> Any:
        self.kept.append((frame.pts, frame.width))
        return super().__call__(frame)


class Refits(Sound):
    """A buffer made anew for each change of size, smaller frames included."""

    def __call__(self, frame: Any) -> Any:
        if len(self._buffer) != frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)
        return frame


class Collected(Sound):
    """A reference cycle that only the garbage collector frees."""

    def __init__(self) -> None:
        super().__init__()
        self._self = self
        self._state = bytearray(5000)


class LeavesDescriptor(Sound):
    """A descriptor left open by each cycle."""

    def __init__(self) -> None:
        super().__init__()
        os.open(os.devnull, os.O_RDONLY)


class LeavesThread(Sound):
    """A thread left waiting by each cycle."""

    def __init__(self) -> None:
        super().__init__()
        work: queue.SimpleQueue[None] = queue.SimpleQueue()
        threading.Thread(target=work.get, daemon=True).start()


FAULTS = (Churn, Lost, Kept, Refits, Collected, LeavesDescriptor, LeavesThread)
