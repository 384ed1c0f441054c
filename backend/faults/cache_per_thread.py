"""A cache of the module keyed by thread: each worker leaves its entry behind."""

from __future__ import annotations

import threading

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame

_scratch: dict[int, bytearray] = {}


class Faulty(OnWorker):
    """Gets each worker its scratch memory."""

    def work(self, frame: Frame) -> Frame:
        """Use the scratch memory."""
        thread = threading.get_native_id()
        if thread not in _scratch:
            _scratch[thread] = bytearray(5000)  # <- fault
        return frame


class Repaired(Faulty):
    """A worker takes its entry out when it ends."""

    def finish(self) -> None:
        """Drop the entry."""
        _scratch.pop(threading.get_native_id(), None)


FAULT = Fault(
    about="a cache keyed by thread outlives the threads",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
