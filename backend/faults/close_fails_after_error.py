"""After an error close misses a request."""

from __future__ import annotations

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault


class Faulty(Deferred):
    """Has lost the request of a failed frame."""

    def close(self) -> None:
        """Release all requests, of which one is missing."""
        if self.failures:
            raise RuntimeError("a request is missing")  # <- fault
        super().close()


FAULT = Fault(
    about="close fails once a frame has failed",
    rule="error-path",
    kind="close-error",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Deferred,
)
