"""Every output goes into a list, for a log that nobody reads."""

from __future__ import annotations

from collections import deque

import torch

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Keeps all."""

    most: int | None = None

    def __init__(self) -> None:
        self._outputs: deque[torch.Tensor] = deque(maxlen=self.most)

    def __call__(self, frame: Frame) -> Frame:
        self._outputs.append(torch.ones(500))  # <- fault
        return frame


class Repaired(Faulty):
    """Keeps the last four."""

    most = 4


FAULT = Fault(
    about="outputs are kept in a list",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    faulty=Faulty,
    repaired=Repaired,
)
