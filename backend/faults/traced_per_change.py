"""The model is traced again on each change of resolution: TorchScript keeps each of them."""

from __future__ import annotations

import warnings

import torch
from torch import nn

from backend.faults.fault import Fault
from backend.frame import Frame

_SIZES = "48x48", "32x48"


class Faulty:
    """Traces for the size at hand."""

    def __init__(self) -> None:
        self._model = nn.Sequential(nn.ReLU(), nn.Hardtanh()).eval()
        self._input = torch.zeros(1, 3, 48, 48)
        self._size = (0, 0)

    def __call__(self, frame: Frame) -> Frame:
        size = frame.width, frame.height
        if size != self._size:
            self._size = size
            self.prepare()
        return frame

    def prepare(self) -> None:
        """Make the model ready for the size."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch advises against it
            torch.jit.trace(self._model, self._input, check_trace=False)  # <- fault


class Repaired(Faulty):
    """A model takes any size as it is."""

    def prepare(self) -> None:
        """Nothing to do."""


FAULT = Fault(
    about="the model is traced again on each change of resolution",
    rule="steady-growth",
    kind="leak-per-resolution-change",
    level="zero-growth",
    workload=",".join(f"{size}@25*3" for size in _SIZES * 4),
    faulty=Faulty,
    repaired=Repaired,
)
