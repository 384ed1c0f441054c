"""execute queues what it should wait for: a producer that is faster than the model fills memory."""

from __future__ import annotations

import queue

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(OnWorker):
    """Says that it has two requests, and takes in all that comes."""

    nireq = 2


class Repaired(OnWorker):
    """A frame has to have one of two tickets."""

    nireq = 2

    def __init__(self) -> None:
        self._tickets: queue.SimpleQueue[None] = queue.SimpleQueue()
        for _ in range(self.nireq):
            self._tickets.put(None)
        super().__init__()

    def execute(self, frame: Frame) -> None:
        """Submit one frame; blocks while two are in flight."""
        self._tickets.get()
        super().execute(frame)

    def work(self, frame: Frame) -> Frame:
        """The result of one frame."""
        self._tickets.put(None)
        return frame


FAULT = Fault(
    about="frames queue up without bound when they come faster than they are served",
    rule="bounded-in-flight",
    kind="unbounded-queue",
    workload="32x32@100*40",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
