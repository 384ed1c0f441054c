"""A running mean of outputs that need gradients: each frame's graph hangs on the one before."""

from __future__ import annotations

import torch
from torch import nn

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Adds tensors."""

    def __init__(self) -> None:
        self._layer = nn.Linear(64, 64)
        self._input = torch.ones(64)
        self._mean = torch.zeros(())

    def __call__(self, frame: Frame) -> Frame:
        self.account(self._layer(self._input))  # <- fault too
        return frame

    def account(self, output: torch.Tensor) -> None:
        """Take the output into the mean."""
        self._mean = 0.9 * self._mean + 0.1 * output.mean()  # <- fault


class Repaired(Faulty):
    """Adds values."""

    def account(self, output: torch.Tensor) -> None:
        """Take the output into the mean."""
        self._mean = 0.9 * self._mean + 0.1 * output.detach().mean()


FAULT = Fault(
    about="running statistics chain the graphs of all frames",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*24",
    faulty=Faulty,
    repaired=Repaired,
)
