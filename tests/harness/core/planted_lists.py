"""Backends that have more small arrays at once than numpy's list of their dimensions has blocks."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

import numpy as np

SOME = 3
"""more than the list has left, once the backend's own arrays are made"""


class Idle:
    """Keeps so many arrays that the list is empty, and a thread that does nothing."""

    overlapping: tuple[int, ...] = ()
    has_thread = True

    def __init__(self) -> None:
        self._kept = [np.empty((8, 8, 3), np.uint8) for _ in range(10)]
        self._frames = 0
        self._over = Event()
        self._worker = Thread(target=self._over.wait)
        if self.has_thread:
            self._worker.start()

    def __call__(self, frame: Any) -> Any:
        views = [frame.data[row:] for row in range(SOME)]
        if self._frames in self.overlapping:
            views += [frame.data[row:] for row in range(SOME)]  # here: lacking
        self._frames += 1
        return frame

    def close(self) -> None:
        self._over.set()
        if self.has_thread:
            self._worker.join()


class Once(Idle):
    """On one frame in the middle."""

    overlapping = (25,)


class OnceAlone(Once):
    """The same without a thread."""

    has_thread = False


class Each(Idle):
    """Each frame more than the list can ever hold."""

    def __call__(self, frame: Any) -> Any:
        _ = [frame.data[row:] for row in range(3 * SOME)]  # here: each
        return frame


class Large(Idle):
    """On one frame in the middle, and its data are too large for a list."""

    def __call__(self, frame: Any) -> Any:
        if self._frames == 25:
            np.empty(2000, np.uint8)  # here: large
        self._frames += 1
        return frame


class Keeps:
    """Keeps a copy of each frame; what the list lacks for it, the next line takes."""

    def __init__(self) -> None:
        self._seen: list[Any] = []

    def __call__(self, frame: Any) -> Any:
        self._seen.append(frame.data.copy())  # here: keeps
        view = frame.data[1:]
        del view
        return frame
