"""close waits for the worker, and nothing tells the worker to end."""

from __future__ import annotations

from backend.faults._worker import OnWorker
from backend.faults.fault import NO_VERDICT, Fault


class Faulty(OnWorker):
    """Forgets the word that ends the worker."""

    def close(self) -> None:
        """Wait for the end of the worker."""
        self._thread.join()


FAULT = Fault(
    about="close waits for a worker that nobody told to end",
    rule=NO_VERDICT,
    kind="hung",
    phase="close",
    timeout=4,
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=OnWorker,
)
