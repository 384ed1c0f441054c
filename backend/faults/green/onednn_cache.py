"""A convolution over changing sizes: oneDNN keeps a primitive for each, up to a bound."""

from __future__ import annotations

import torch
from torch import nn

from backend.faults.fault import Green
from backend.frame import Frame

_SIZES = "32x32", "24x32", "32x24", "40x16"


class Backend:
    """Plain eager inference."""

    def __init__(self) -> None:
        self._layer = nn.Conv2d(3, 4, 3, padding=1).eval()
        for weights in self._layer.parameters():
            nn.init.constant_(weights, 0.1)

    def __call__(self, frame: Frame) -> torch.Tensor:
        with torch.no_grad():
            pixels = torch.from_numpy(frame.data).permute(2, 0, 1).unsqueeze(0).float()
            output: torch.Tensor = self._layer(pixels)
            return output


GREEN = Green(
    about="oneDNN's cache of primitives, an entry for each shape",
    level="zero-growth",
    workload=",".join(f"{size}@25*4" for size in _SIZES * 3),
    backend=Backend,
)
