"""An executor of the module for each instance, never shut down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backend.faults.fault import Fault
from backend.frame import Frame

_executors: list[ThreadPoolExecutor] = []


class Faulty:
    """Forgets its executor."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="fault-executor")
        _executors.append(self._executor)
        self._executor.submit(int).result()

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Shuts it down."""

    def close(self) -> None:
        """End the threads."""
        _executors.remove(self._executor)
        self._executor.shutdown()


FAULT = Fault(
    about="an executor is never shut down",
    rule="teardown-resources",
    kind="thread",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
