"""A thread created and joined for each frame."""

from __future__ import annotations

import queue
import threading

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame


def faulty(frame: Frame) -> Frame:
    """Serve one frame on a thread of its own."""
    done: queue.SimpleQueue[Frame] = queue.SimpleQueue()  # <- fault too
    thread = threading.Thread(target=done.put, args=(frame,))  # <- fault
    thread.start()  # <- fault too
    thread.join()
    return done.get()


FAULT = Fault(
    about="a thread is created and joined for each frame",
    rule="steady-allocations",
    kind="churn",
    workload="32x32@25*24",
    faulty=faulty,
    repaired=OnWorker,
)
