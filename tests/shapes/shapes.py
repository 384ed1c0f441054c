"""Backends of every shape, each by its way in of docs/other-backends.md. All of them are sound."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

Pixels = Any
MOST = 64 * 64 * 3


class Buffer:
    """Memory for one frame, of which each frame uses as much as it needs."""

    def __init__(self) -> None:
        self._all = np.zeros(MOST, np.uint8)

    def inverted(self, pixels: Pixels) -> Pixels:
        out = self._all[: pixels.size].reshape(pixels.shape)
        return np.invert(pixels, out=out)


# a generator that is sent frames, and one that draws them from an iterator


def sent_frames() -> Any:
    buffer, result = Buffer(), None
    while True:
        frame = yield result
        result = buffer.inverted(frame.data)


def open_sent() -> Callable[[Any], Any]:
    generator = sent_frames()
    next(generator)

    def infer(frame: Any) -> Pixels:
        nonlocal generator
        try:
            return generator.send(frame)
        except Exception:
            generator = sent_frames()  # one that has raised is at its end
            next(generator)
            raise

    return infer


def drawn_frames(frames: Iterator[Any]) -> Iterator[Pixels]:
    buffer = Buffer()
    for frame in frames:
        yield buffer.inverted(frame.data)


def open_drawn() -> Callable[[Any], Any]:
    waiting: deque[Any] = deque()
    results = drawn_frames(iter(waiting.popleft, None))

    def infer(frame: Any) -> Pixels:
        nonlocal results
        waiting.append(frame)
        try:
            return next(results)
        except Exception:
            results = drawn_frames(iter(waiting.popleft, None))
            raise

    return infer


# several results for a frame, or none


def open_several() -> Callable[[Any], Iterator[int]]:
    def infer(frame: Any) -> Iterator[int]:
        for number in range(frame.pts % 3):
            yield int(frame.data[0, 0, 0]) + number

    return infer


# a coroutine function


def open_coroutine() -> Callable[[Any], Any]:
    buffer = Buffer()

    async def infer(frame: Any) -> Pixels:
        await asyncio.sleep(0)
        return buffer.inverted(frame.data)

    return infer


# a temporal filter: its results depend on the frames before


class Temporal:
    stateful = True

    def __init__(self) -> None:
        self._before = np.zeros(MOST, np.uint8)
        self._out = np.zeros(MOST, np.uint8)
        self._shape: tuple[int, ...] = ()

    def __call__(self, frame: Any) -> Pixels:
        pixels = frame.data
        before = self._before[: pixels.size].reshape(pixels.shape)
        if pixels.shape != self._shape:
            self._shape = pixels.shape
            before[...] = pixels
        out = np.bitwise_xor(pixels, before, out=self._out[: pixels.size].reshape(pixels.shape))
        before[...] = pixels
        return out


# one that wants a call before the first frame


class WarmsUp:
    def __init__(self) -> None:
        self._buffer: Buffer | None = None

    def warm_up(self) -> None:
        self._buffer = Buffer()

    def cool_down(self) -> None:
        self._buffer = None

    def __call__(self, frame: Any) -> Pixels:
        assert self._buffer is not None, "warm_up was not called"
        return self._buffer.inverted(frame.data)


def open_warm() -> WarmsUp:
    backend = WarmsUp()
    backend.warm_up()
    return backend


# other names


class Infers:
    """What it is given is answered at once."""

    def __init__(self) -> None:
        self._buffer = Buffer()

    def infer(self, frame: Any) -> Pixels:
        return self._buffer.inverted(frame.data)


class Submits:
    """The protocol under other names, with nothing to flush."""

    def __init__(self) -> None:
        self._buffer = Buffer()
        self._frames: deque[Any] = deque()

    def submit(self, frame: Any) -> None:
        self._frames.append(frame)

    def fetch(self) -> Pixels | None:
        return self._buffer.inverted(self._frames.popleft().data) if self._frames else None

    def release(self) -> None:
        self._frames.clear()


# a yielded backend, as a fixture yields


def yielded() -> Iterator[Callable[[Any], Any]]:
    backend = WarmsUp()
    backend.warm_up()
    yield backend
    backend.cool_down()


# models


def open_module() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Dropout())
