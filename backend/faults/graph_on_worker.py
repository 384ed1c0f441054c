"""no_grad on the caller's thread only: on the worker, the fed-back output drags its graph along."""

from __future__ import annotations

import torch
from torch import nn

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty(OnWorker):
    """A recurrent filter, whose state is its last output."""

    def __init__(self) -> None:
        self._layer = nn.Linear(64, 64)
        self._state = torch.zeros(64)
        super().__init__()

    def execute(self, frame: Frame) -> None:
        """Submit one frame."""
        with torch.no_grad():  # of this thread
            super().execute(frame)

    def work(self, frame: Frame) -> Frame:
        """Go on by one frame."""
        self.step()
        return frame

    def step(self) -> None:
        """The next state."""
        self._state = torch.tanh(self._layer(self._state))  # <- fault


class Repaired(Faulty):
    """The worker is without gradients."""

    def step(self) -> None:
        """The next state."""
        with torch.no_grad():
            super().step()


FAULT = Fault(
    about="a worker without no_grad, whose state keeps the graph of all frames",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    workload="32x32@25*24",
    faulty=Faulty,
    repaired=Repaired,
)
