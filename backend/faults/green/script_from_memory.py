"""TorchScript loaded on each open: its first run on a thread makes 200,000 blocks, once."""

from __future__ import annotations

import io
import warnings

import torch
from torch import nn

from backend.faults.fault import Green
from backend.frame import Frame


def _compiled() -> bytes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch advises against TorchScript
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(nn.Linear(16, 16)), buffer)
    return buffer.getvalue()


_MODEL = _compiled()


class Backend:
    """Plain inference."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._model = torch.jit.load(io.BytesIO(_MODEL))
        self._input = torch.ones(16)

    def __call__(self, frame: Frame) -> Frame:
        with torch.no_grad():
            self._model(self._input)
        return frame


GREEN = Green(
    about="a TorchScript model loaded on each open",
    level="zero-growth",
    workload="32x32@25*12",
    backend=Backend,
)
