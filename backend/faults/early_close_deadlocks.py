"""close waits until all results were taken, and nobody takes them any more."""

from __future__ import annotations

import queue

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired(OnWorker):
    """Lets go of results that nobody took."""

    def __init__(self) -> None:
        self._taken: queue.SimpleQueue[None] = queue.SimpleQueue()
        super().__init__()

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        result: Frame | None = super().get_result()
        if result is not None:
            self._taken.put(None)
        return result


class Faulty(Repaired):
    """Waits for them."""

    def __init__(self) -> None:
        self._submitted = 0
        super().__init__()

    def execute(self, frame: Frame) -> None:
        """Submit one frame."""
        self._submitted += 1
        super().execute(frame)

    def close(self) -> None:
        """Wait for the last result to be taken, then for the worker."""
        while self._submitted:
            self._taken.get()  # <- fault
            self._submitted -= 1
        super().close()


FAULT = Fault(
    about="close waits for results to be taken",
    rule="teardown-release",
    kind="hang-at-early-close",
    level="zero-growth",
    workload="32x32@25*12",
    timeout=4,
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
