"""A forward hook, left over from a look at the features, that stores each activation."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Has a hook on its only layer."""

    def __init__(self) -> None:
        self._features: list[torch.Tensor] = []
        self._layer = nn.Linear(64, 512)
        self._input = torch.ones(64)
        self.observe()

    def observe(self) -> None:
        """Register the hook."""
        self._layer.register_forward_hook(self._store)

    def _store(self, _layer: nn.Module, _inputs: Any, output: torch.Tensor) -> None:
        self._features.append(output.detach().clone())  # <- fault

    def __call__(self, frame: Frame) -> Frame:
        with torch.no_grad():
            self._layer(self._input)
        return frame

    def close(self) -> None:
        """Let go of the model, and by it of the hook."""
        del self._layer


class Repaired(Faulty):
    """Has none."""

    def observe(self) -> None:
        """Nothing is looked at."""


FAULT = Fault(
    about="a forward hook stores activations",
    rule="steady-growth",
    kind="leak-per-frame",
    level="zero-growth",
    faulty=Faulty,
    repaired=Repaired,
)
