"""The worker ignores what the inference returns: a failed frame is delivered as if it were good."""

from __future__ import annotations

from typing import Any

import numpy as np

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Writes the negative of each frame into its output; wide frames it can't."""

    def __init__(self) -> None:
        self._output = np.zeros((64, 64, 3), np.uint8)

    def __call__(self, frame: Frame) -> Any:
        return self.deliver(frame, self.infer(frame))

    def infer(self, frame: Frame) -> bool:
        """Fill the output; false for a frame that is too wide."""
        if frame.width > 40:
            return False
        np.subtract(255, frame.data, out=self._output[: frame.height, : frame.width])
        return True

    def deliver(self, frame: Frame, inferred: bool) -> Any:  # noqa: ARG002 - that is the fault
        """The result, whatever the inference said."""
        return self._output[: frame.height, : frame.width].copy()


class Repaired(Faulty):
    """Passes on, as it came, what can't be inferred."""

    def deliver(self, frame: Frame, inferred: bool) -> Any:
        """The result, or the frame itself."""
        return super().deliver(frame, inferred) if inferred else frame.data


FAULT = Fault(
    about="the inference's return code is ignored, a failed frame delivered",
    rule="output",
    kind="wrong-data",
    level="zero-growth",
    workload="32x32@25*10,48x32@25*4,32x32@25*4",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
