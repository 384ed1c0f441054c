# ruff: noqa: ARG002 - signatures are given
"""Backends whose results are wrong, each beside its repaired twin."""

from __future__ import annotations

import os
import random
import time
from collections import deque
from typing import Any

import numpy as np

from backend.frame import Frame


def negative(frame: Any) -> Any:
    """The work that all of these do: a new frame, inverted."""
    return Frame(255 - frame.data, frame.format, pts=frame.pts)


class Queued:
    """Results in order; what is planted overrides `serve`."""

    def __init__(self) -> None:
        self._results: deque[Any] = deque()

    def execute(self, frame: Any) -> None:
        self.serve(frame)

    def serve(self, frame: Any) -> None:
        self._results.append(negative(frame))

    def get_result(self) -> Any:
        return self._results.popleft() if self._results else None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self._results.clear()


Repaired = Queued


class StaleBuffer:
    """A buffer that only grows; the rows below a smaller frame are those of a larger one."""

    stale = True

    def __init__(self) -> None:
        self._rows = 0

    def __call__(self, frame: Any) -> Any:
        height = frame.data.shape[0]
        total = int(frame.data.sum())
        if self.stale:
            total += self._rows  # what should have been cleared
        self._rows = height
        return np.full((4, 5), total, np.int64)


class StaleBufferRepaired(StaleBuffer):
    stale = False


class StaleSize(Queued):
    """The output's size is set one frame late."""

    def __init__(self) -> None:
        super().__init__()
        self._shape: tuple[int, ...] | None = None

    def serve(self, frame: Any) -> None:
        shape = self._shape or frame.data.shape
        self._shape = frame.data.shape
        self._results.append(Frame(np.resize(frame.data, shape), frame.format, pts=frame.pts))


class PreviousFrame:
    """A view of a buffer that the next frame overwrites, kept by the model."""

    def __init__(self) -> None:
        self._previous: Any = None

    def __call__(self, frame: Any) -> Any:
        now, self._previous = self._previous, 255 - frame.data
        return self._previous if now is None or now.shape != self._previous.shape else now


class Swaps(Queued):
    """Frames 12 and 13 change places, pts and all."""

    def serve(self, frame: Any) -> None:
        self._results.append(negative(frame))
        if frame.pts == 13 and len(self._results) > 1:
            self._results[-1], self._results[-2] = self._results[-2], self._results[-1]


class WrongPts(Queued):
    """Results bear the pts of the frame before."""

    last: Any = None

    def serve(self, frame: Any) -> None:
        result = negative(frame)
        if self.last is not None:
            result.pts = self.last
        self.last = frame.pts
        self._results.append(result)


class Loses(Queued):
    """Frame 7's result is lost; pts tell whose the others are."""

    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        if self.count != 8:
            super().serve(frame)


class LosesAtFlush(Queued):
    """Hands out what is there but to flush, which throws it away."""

    def flush(self) -> None:
        self._results.clear()


class LosesFlat(Loses):
    """The same, where all results are equal and have no pts: nothing tells."""

    def get_result(self) -> Any:
        result = super().get_result()
        return None if result is None else np.zeros(3)


class Twice(Queued):
    """Frame 7's result comes twice."""

    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        for _ in range(2 if self.count == 8 else 1):
            self._results.append(negative(frame).data)


class WrongFormat(Queued):
    """From frame 5 on the channel axis is missing."""

    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        self._results.append((255 - frame.data)[..., 0] if self.count > 5 else 255 - frame.data)


class Raises:
    """Whose data is gone."""

    @property
    def data(self) -> Any:
        raise OSError("unmapped")


class Unreadable(Queued):
    """Frame 5's result can't be read."""

    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        self._results.append(Raises() if self.count == 6 else negative(frame))


class OffByOne(Queued):
    """From frame 9 on one sample is wrong by 3."""

    count = 0

    def serve(self, frame: Any) -> None:
        result = negative(frame)
        result.data[2, 1, 0] //= 2
        self.count += 1
        if self.count > 9:
            result.data[2, 1, 0] += 3
        self._results.append(result)


class Random:
    """Never twice the same."""

    def __call__(self, frame: Any) -> Any:
        return np.frombuffer(os.urandom(64), np.uint8)


class SometimesRandom:
    """Right, but for frame 3, which is random."""

    def __call__(self, frame: Any) -> Any:
        value = random.SystemRandom().random() if frame.pts == 3 else float(frame.pts)
        return [value, frame.data]


class Average:
    """State by design: each result is the mean with the one before."""

    stateful = True

    def __init__(self) -> None:
        self._mean: Any = None

    def __call__(self, frame: Any) -> Any:
        new = frame.data.astype(np.float32)
        old = self._mean
        self._mean = new if old is None or old.shape != new.shape else (old + new) / 2
        return self._mean.copy()


class UndeclaredAverage(Average):
    stateful = False


class BrokenAverage(Average):
    """The state is lost when frames come in bursts: the second of a burst forgets the first."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = 0

    def execute(self, frame: Any) -> None:
        self._waiting += 1
        if self._waiting > 1:
            self._mean = None
        self._result = self(frame)

    def get_result(self) -> Any:
        if not self._waiting:
            return None
        self._waiting -= 1
        return self._result

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class DropsOdd(Queued):
    """Every second frame is dropped by design."""

    stateful = True
    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        if self.count % 2:
            super().serve(frame)


class Batches(Queued):
    """Holds back up to four frames."""

    def __init__(self) -> None:
        super().__init__()
        self._held: list[Any] = []

    def serve(self, frame: Any) -> None:
        self._held.append(negative(frame))
        if len(self._held) == 4:
            self.flush()

    def flush(self) -> None:
        self._results.extend(self._held)
        self._held.clear()


class Doubles(Queued):
    """Two results for each frame."""

    def serve(self, frame: Any) -> None:
        self._results.extend([negative(frame).data, frame.data.copy()])


class Opaque:
    """Results that can't be compared."""

    def __call__(self, frame: Any) -> Any:
        return object()


class SlowToOpen:
    """Opening takes 0.1 s of the processor."""

    def __init__(self) -> None:
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass

    def __call__(self, frame: Any) -> Any:
        return 255 - frame.data


class NeedsTwoFrames(Queued):
    """Right, but an instance that has had one frame alone can't be closed."""

    count = 0

    def serve(self, frame: Any) -> None:
        self.count += 1
        super().serve(frame)

    def close(self) -> None:
        if self.count == 1:
            raise RuntimeError("closed too early")
