"""An error is reported twice: later results are taken for those of other frames."""

from __future__ import annotations

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(Deferred):
    """Reports an error again."""

    def failed(self, frame: Frame) -> None:
        """Report the frame, once where it failed and once where it ended."""
        super().failed(frame)
        super().failed(frame)


FAULT = Fault(
    about="one failed frame, two exceptions",
    rule="error-path",
    kind="extra-event",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Deferred,
)
