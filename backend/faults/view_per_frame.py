"""A new view of the persistent buffer for each frame: no pixels, but seven small blocks."""

from __future__ import annotations

import torch

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Makes the view where it needs it."""

    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)

    def __call__(self, frame: Frame) -> Frame:
        self._buffer.view(64, 64)  # <- fault
        return frame


class Repaired:
    """Made it once."""

    def __init__(self) -> None:
        self._buffer = torch.zeros(4096)
        self._view = self._buffer.view(64, 64)

    def __call__(self, frame: Frame) -> Frame:
        self._view.zero_()
        return frame


FAULT = Fault(
    about="a view is made for each frame",
    rule="steady-allocations",
    kind="churn",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
