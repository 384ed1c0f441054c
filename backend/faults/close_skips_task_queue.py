"""Tasks that close leaves in their queue, and with each of them the frames that it was about."""

from __future__ import annotations

from collections import deque

from backend.faults.fault import Fault
from backend.frame import Frame

_queues: list[deque[tuple[Frame, bytearray]]] = []
"""as in C, where a queue and what is in it stay until they are freed"""


class Faulty:
    """A frame's task stays in the queue until the next one comes."""

    def __init__(self) -> None:
        self._output = bytearray(5000)  # <- fault
        self._tasks: deque[tuple[Frame, bytearray]] = deque(maxlen=1)  # <- fault too
        _queues.append(self._tasks)

    def __call__(self, frame: Frame) -> Frame:
        self._tasks.append((frame, self._output))
        return frame


class Repaired(Faulty):
    """Drains the queue."""

    def close(self) -> None:
        """Free what is in the queue, and the queue."""
        self._tasks.clear()
        _queues.remove(self._tasks)


FAULT = Fault(
    about="close leaves tasks in their queue, with their frames",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
