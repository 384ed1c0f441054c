"""Backends that bad frames upset, each beside its repaired twin."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections import deque
from typing import Any

import numpy as np

_KEPT: list[Any] = []


def check(frame: Any) -> None:
    """What every one of these can take: uint8 RGB frames that have pixels."""
    data = frame.data
    if frame.format != "rgb24" or data.dtype != np.uint8 or data.ndim != 3 or not data.size:
        raise ValueError(f"can't take a frame of {data.dtype} {data.shape} in {frame.format}")


def negative(frame: Any) -> Any:
    check(frame)
    return 255 - frame.data


class Plain:
    """Raises from execute."""

    def __call__(self, frame: Any) -> Any:
        return negative(frame)


class TakesAll:
    """Makes something of whatever comes."""

    def __call__(self, frame: Any) -> Any:
        return np.array(frame.data.shape)


class Deferred:
    """Raises from get_result, at the frame's turn."""

    def __init__(self) -> None:
        self._done: deque[Any] = deque()

    def execute(self, frame: Any) -> None:
        try:
            self._done.append(negative(frame))
        except ValueError as error:
            self.failed(frame, error)

    def failed(self, frame: Any, error: ValueError) -> None:  # noqa: ARG002 - for subclasses
        self._done.append(str(error))

    def get_result(self) -> Any:
        if not self._done:
            return None
        done = self._done.popleft()
        if isinstance(done, str):
            raise ValueError(done)
        return done

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self._done.clear()


class Swallows(Deferred):
    """A bad frame leaves no trace: the caller waits for ever."""

    def failed(self, frame: Any, error: ValueError) -> None:
        pass


class RepeatsForBad(Deferred):
    """A failed frame is delivered as if it were good, and the next good one is lost."""

    lose = False

    def execute(self, frame: Any) -> None:
        if self.lose:
            self.lose = False
            return
        super().execute(frame)

    def failed(self, frame: Any, error: ValueError) -> None:  # noqa: ARG002
        self._done.append(np.zeros(3))
        self.lose = True


class BlocksAfterError(Deferred):
    """The request isn't returned to the pool: every later frame fails."""

    broken = ""

    def execute(self, frame: Any) -> None:
        if self.broken:
            raise RuntimeError("no idle request")
        super().execute(frame)

    def failed(self, frame: Any, error: ValueError) -> None:
        self.broken = str(error)
        super().failed(frame, error)


class SpoilsNext(Deferred):
    """An error leaves something in the buffer of the next frame."""

    spoiled = False

    def execute(self, frame: Any) -> None:
        super().execute(frame)
        if self.spoiled and isinstance(self._done[-1], np.ndarray):
            self._done[-1][0, 0, 0] ^= 1
            self.spoiled = False

    def failed(self, frame: Any, error: ValueError) -> None:
        self.spoiled = True
        super().failed(frame, error)


class RaisesTwice(Deferred):
    """One bad frame, two exceptions."""

    def failed(self, frame: Any, error: ValueError) -> None:
        super().failed(frame, error)
        super().failed(frame, error)


class FlushRaises(Deferred):
    last = ""

    def failed(self, frame: Any, error: ValueError) -> None:
        self.last = str(error)
        super().failed(frame, error)

    def flush(self) -> None:
        if self.last:
            raise RuntimeError("cannot flush after an error")


class CloseRaises(FlushRaises):
    def flush(self) -> None:
        pass

    def close(self) -> None:
        if self.last:
            raise RuntimeError("cannot close after an error")


class ClosedOnce(Deferred):
    """A second close does what `again` does."""

    closed = False

    def close(self) -> None:
        if self.closed:
            self.again()
        self.closed = True
        super().close()

    def again(self) -> None:
        pass


class SecondCloseRaises(ClosedOnce):
    def again(self) -> None:
        raise RuntimeError("it is closed already")


class SecondCloseCrashes(ClosedOnce):
    def again(self) -> None:
        os.abort()


class SecondCloseHangs(Deferred):
    closed = False

    def close(self) -> None:
        if self.closed:
            time.sleep(1000)
        self.closed = True


class KeepsFrames(Deferred):
    """A frame that failed is never given back."""

    def failed(self, frame: Any, error: ValueError) -> None:
        self.__dict__.setdefault("kept", []).append(frame)
        super().failed(frame, error)


class LeaksPerError(Deferred):
    """The buffer of a failed request is lost."""

    def failed(self, frame: Any, error: ValueError) -> None:
        _KEPT.append(np.empty(5000, np.uint8))  # fault: LeaksPerError
        super().failed(frame, error)


class LeaksOfOneKind(Deferred):
    """Only of frames in an unknown format, and only 600 bytes."""

    def failed(self, frame: Any, error: ValueError) -> None:
        if frame.format != "rgb24":
            _KEPT.append(bytearray(600))  # fault: LeaksOfOneKind
        super().failed(frame, error)


class KeepsOneError(Deferred):
    """A slot that each error overwrites is no leak."""

    def failed(self, frame: Any, error: ValueError) -> None:
        self.last = bytearray(5000)
        super().failed(frame, error)


class KeepsTuples(Deferred):
    """A small Python object per error: no tracer of malloc sees it."""

    def failed(self, frame: Any, error: ValueError) -> None:
        _KEPT.append((frame.width, object()))
        super().failed(frame, error)


class LeaksByPointer(Deferred):
    """Memory from a malloc that is called through a pointer."""

    malloc = ctypes.CDLL(None).malloc

    def failed(self, frame: Any, error: ValueError) -> None:
        self.malloc(100)
        super().failed(frame, error)


class LeaksDescriptors(Deferred):
    def failed(self, frame: Any, error: ValueError) -> None:
        os.open(os.devnull, os.O_RDONLY)
        super().failed(frame, error)


class Cyclic(Deferred):
    """What an error holds is in a reference cycle."""

    def failed(self, frame: Any, error: ValueError) -> None:
        cycle: list[Any] = [np.empty(5000, np.uint8)]  # fault: Cyclic
        cycle.append(cycle)
        super().failed(frame, error)


class Crashes(Deferred):
    def failed(self, frame: Any, error: ValueError) -> None:  # noqa: ARG002
        os.abort()


class CrashesInFlush(FlushRaises):
    def flush(self) -> None:
        if self.last:
            os.abort()


class Hangs(Deferred):
    def failed(self, frame: Any, error: ValueError) -> None:  # noqa: ARG002
        time.sleep(3600)


class Exits(Deferred):
    def failed(self, frame: Any, error: ValueError) -> None:  # noqa: ARG002
        sys.exit("a bad frame")


class BrokenAnyway(Deferred):
    """Good frames fail too."""

    def execute(self, frame: Any) -> None:
        raise RuntimeError(f"not my day: {frame.pts}")


class Random(Deferred):
    """Results can't be compared, but errors are served well."""

    def execute(self, frame: Any) -> None:
        super().execute(frame)
        if isinstance(self._done[-1], np.ndarray):
            self._done[-1] = np.frombuffer(os.urandom(16), np.uint8)


class StatefulTakesAll:
    """State by design, and whatever comes goes into it."""

    stateful = True
    total = 0

    def __call__(self, frame: Any) -> Any:
        self.total += int(frame.data.sum())
        return np.array([self.total])


class HoldsBack(Deferred):
    """Two frames of delay."""

    def get_result(self) -> Any:
        return super().get_result() if len(self._done) > 2 or self.flushed else None

    flushed = False

    def flush(self) -> None:
        self.flushed = True
