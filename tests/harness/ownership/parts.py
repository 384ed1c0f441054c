"""One backend that allocates in many ways; a line that is to be named ends in `# here: NAME`."""

from __future__ import annotations

import ctypes
import functools
import queue
import threading
from collections.abc import Callable
from typing import Any

import av
import torch

_libc = ctypes.CDLL(None)
_libc.strdup.restype = ctypes.c_void_p
_libc.strdup.argtypes = [ctypes.c_char_p]
_libc.free.argtypes = [ctypes.c_void_p]
_Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Doubles(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + x  # here: eager


class CallsBack(torch.nn.Module):
    """A model whose forward calls into the code of whoever made it."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self._function(x)
        return result


def clone(x: torch.Tensor) -> torch.Tensor:
    return x.clone()  # here: callback


def double(x: torch.Tensor) -> torch.Tensor:
    return x + x


@functools.cache
def script() -> Any:
    return torch.jit.script(Doubles())


@functools.cache
def script_function() -> Any:
    return torch.jit.script(double)


class Graph:
    """A libavfilter graph that flips each frame."""

    def __init__(self) -> None:
        self._graph = av.filter.Graph()
        source = self._graph.add_buffer(width=64, height=64, format="rgb24", time_base="1/25")
        flip, sink = self._graph.add("hflip"), self._graph.add("buffersink")
        source.link_to(flip)
        flip.link_to(sink)
        self._graph.configure()
        self._frame = av.VideoFrame(64, 64, "rgb24")

    def run(self, pts: int) -> None:
        self._frame.pts = pts
        self._graph.push(self._frame)  # here: push
        self._graph.pull()  # here: pull


class Parts:
    """All of them, some on a thread of the backend's own."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._x = torch.zeros(256)
        self._eager, self._callback = Doubles(), CallsBack(clone)
        self._script, self._function = script(), script_function()
        self._forward = self._script.forward
        self._graph = Graph()
        self._numbers = (ctypes.c_int * 4)(*range(4))
        self._compare = _Compare(self.compare)
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def compare(self, _one: int, _other: int) -> int:
        bytearray(700)  # here: compare
        return 0

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            self._script(self._x)  # here: script
            self._forward(self._x)  # here: script forward
            self._function(self._x)  # here: script function
            torch.ones(64)  # here: worker
            self._out.put(frame)
            frame = None

    def execute(self, frame: Any) -> None:
        self._eager(self._x)
        self._callback(self._x)
        self._graph.run(frame.pts)
        _libc.free(_libc.strdup(b"x" * 1000))  # here: strdup
        _libc.qsort(self._numbers, 4, 4, self._compare)
        self._in.put(frame)

    def get_result(self) -> Any:
        return None if self._out.empty() else self._out.get()

    def flush(self) -> None:
        pass

    def close(self) -> None:
        if self._thread.is_alive():
            self._in.put(None)
            self._thread.join()
        self._compare = None  # type: ignore[assignment]
