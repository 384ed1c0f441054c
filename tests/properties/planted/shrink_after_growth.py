"""Gives memory back when a smaller frame comes: it must be taken again for the next large one."""

from __future__ import annotations

from backend.convert import PackedPixels
from backend.frame import Frame
from backend.reference import TorchBackend
from backend.request import InferRequest


class Faulty(TorchBackend):
    """Fits its copy of the frame to each frame anew."""

    def _fill(self, request: InferRequest, frame: Frame) -> None:
        if frame.data.nbytes < request.staging.buffer.capacity:
            request.staging = PackedPixels()
        super()._fill(request, frame)


class Repaired(TorchBackend):
    """Fits it to a larger frame only."""

    def _fill(self, request: InferRequest, frame: Frame) -> None:
        if frame.data.nbytes > request.staging.buffer.capacity:
            request.staging = PackedPixels()
        super()._fill(request, frame)
