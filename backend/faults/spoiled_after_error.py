"""What a failed frame left in the buffer shows in the next one."""

from __future__ import annotations

from typing import Any

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(Deferred):
    """Does not clear its buffer."""

    def __init__(self) -> None:
        super().__init__()
        self._spoiled = False

    def failed(self, frame: Frame) -> None:
        """Leave half of a frame in the buffer."""
        self._spoiled = True
        super().failed(frame)

    def infer(self, frame: Frame) -> Any:
        """The result of one frame, and what the error left."""
        result = super().infer(frame)
        if self._spoiled:
            result[0, 0, 0] ^= 1
            self._spoiled = False
        return result


FAULT = Fault(
    about="an error leaves something behind in the next frame",
    rule="error-path",
    kind="wrong-after-error",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Deferred,
)
