"""The reference backend, whose close forgets its worker."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.reference import TorchBackend


class Repaired(TorchBackend):
    """The reference backend, with a worker."""

    def __init__(self) -> None:
        super().__init__("identity", mode="async", nireq=2)


class Faulty(Repaired):
    """Lets the worker wait for ever, and its queue with it."""

    def close(self) -> None:
        """Release everything else."""
        self._worker = None
        super().close()

    def __del__(self) -> None:
        """Nor does it end when the backend is dropped."""


FAULT = Fault(
    about="the reference backend, with a close that skips the worker",
    rule="teardown-resources",
    kind="thread",
    workload="32x32@100*24",
    faulty=Faulty,
    repaired=Repaired,
)
