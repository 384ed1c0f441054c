"""A view of the old size is written to with a frame of the new one."""

from __future__ import annotations

import numpy as np

from backend.faults.fault import NO_VERDICT, Fault
from backend.frame import Frame


class Faulty:
    """Makes its input once."""

    def __init__(self) -> None:
        self._input = np.zeros((0, 0, 3), np.uint8)

    def __call__(self, frame: Frame) -> Frame:
        if self.is_unfit(frame):
            self._input = np.zeros((frame.height, frame.width, 3), np.uint8)
        self._input[...] = frame.data
        return frame

    def is_unfit(self, frame: Frame) -> bool:  # noqa: ARG002
        """Whether the input has to be made."""
        return not self._input.size


class Repaired(Faulty):
    """Makes it for each size."""

    def is_unfit(self, frame: Frame) -> bool:
        """Whether the input has to be made."""
        return self._input.shape[:2] != (frame.height, frame.width)


FAULT = Fault(
    about="a frame of another size is written to the input of the first",
    rule=NO_VERDICT,
    kind="raised",
    phase="execute",
    level="zero-growth",
    workload="32x32@25*6,40x40@25*6",
    faulty=Faulty,
    repaired=Repaired,
)
