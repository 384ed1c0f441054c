"""close forgets the worker, which waits for ever."""

from __future__ import annotations

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault


class Faulty(OnWorker):
    """Leaves its thread."""

    def close(self) -> None:
        """Forget the worker."""


FAULT = Fault(
    about="close leaves the worker thread",
    rule="teardown-resources",
    kind="thread",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=OnWorker,
)
