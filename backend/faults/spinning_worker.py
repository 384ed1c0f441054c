"""A worker that asks for work without a pause: the process never comes to rest."""

from __future__ import annotations

import threading

from backend.faults._worker import OnWorker
from backend.faults.fault import NO_VERDICT, Fault
from backend.frame import Frame


class Faulty:
    """Looks for work in a loop, on a thread of its own."""

    def __init__(self) -> None:
        self._ended = False
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._ended:
            pass

    def __call__(self, frame: Frame) -> Frame:
        return frame

    def close(self) -> None:
        """End the worker."""
        self._ended = True
        self._thread.join()


FAULT = Fault(
    about="a worker that spins instead of waiting",
    rule=NO_VERDICT,
    kind="not-quiescent",
    phase="open",
    timeout=4,
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=OnWorker,
)
