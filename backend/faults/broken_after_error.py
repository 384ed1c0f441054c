"""An error is remembered, and every later frame refused."""

from __future__ import annotations

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(Deferred):
    """Remembers the first error."""

    def takes(self, frame: Frame) -> bool:
        """Not after an error."""
        return not self.failures and super().takes(frame)


FAULT = Fault(
    about="every frame after an error fails",
    rule="error-path",
    kind="good-frame-failed",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Deferred,
)
