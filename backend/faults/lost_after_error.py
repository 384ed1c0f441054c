"""The frame after a failed one is dropped, as if it were the failed one."""

from __future__ import annotations

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(Deferred):
    """Drops the frame after an error."""

    def execute(self, frame: Frame) -> None:
        """Take in one frame, but for the one after an error."""
        if self.failures % 2:
            self.failures += 1
            return
        super().execute(frame)


FAULT = Fault(
    about="an error takes the next frame's place, which is lost",
    rule="error-path",
    kind="good-frame-lost",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Deferred,
)
