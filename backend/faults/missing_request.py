"""nireq requests are waited for at flush, and fewer exist: FFmpeg with nireq=2 in sync mode."""

from __future__ import annotations

from backend.faults.fault import NO_VERDICT, Fault
from backend.reference import TorchBackend


class Repaired(TorchBackend):
    """Waits for the one request that there is."""

    def __init__(self) -> None:
        super().__init__("identity", mode="async", nireq=1)


class Faulty(Repaired):
    """Waits for two."""

    def flush(self) -> None:
        """Wait until nothing is in flight."""
        self._idle_requests.wait_for(2)


FAULT = Fault(
    about="flush waits for more requests than the pool has",
    rule=NO_VERDICT,
    kind="hung",
    phase="flush",
    timeout=4,
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
