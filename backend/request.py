"""One slot of the pool: an inference request with its persistent memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from backend.convert import PackedPixels, PlanarTensor
from backend.frame import Frame, PixelFormat
from backend.queues import LastLevelTask

if TYPE_CHECKING:
    from numpy.typing import NDArray


class InferRequest:
    """A frame on its way into the model: its pixels as they came, and the model's input.

    While the request is idle it belongs to the caller's thread, which fills it; from `submit` on
    to whoever runs the inference.
    """

    __slots__ = ("_array", "_own_input", "input", "is_input_kept", "last_level_task", "staging")

    def __init__(self, device: torch.device, *, own_input: bool = True) -> None:
        """Without `own_input` the model's input lies elsewhere: in the arena of all requests."""
        self._own_input = own_input
        # Copies to a GPU are faster from pinned memory.
        self.staging = PackedPixels(pinned=device.type == "cuda")
        self._array: NDArray[Any] | None = None
        """of what is staged; None when it is to be made anew"""
        self.input = PlanarTensor(device)
        self.is_input_kept = False
        """by the model, and there was no memory for another: nothing may be written to it"""
        self.last_level_task: LastLevelTask | None = None

    @property
    def pixel_format(self) -> PixelFormat:
        """The format of the frame that was staged last."""
        assert self.staging.pixel_format is not None
        return self.staging.pixel_format

    def has_room(self, staging_bytes: int, input_bytes: int) -> bool:
        """Whether a frame of this need can be staged without growth."""
        return (
            not self.is_input_kept
            and self.staging.buffer.capacity >= staging_bytes
            and self.input.buffer.capacity >= input_bytes
        )

    def reserve(self, staging_bytes: int, input_bytes: int) -> int:
        """Grow to this need; how many buffers grew. Raises MemoryError."""
        grew = self.staging.reserve(staging_bytes)
        if grew:
            self._array = None
        return int(grew) + int(self.input.reserve(input_bytes))

    def stage(self, frame: Frame, pixel_format: PixelFormat, width: int, height: int) -> None:
        """Copy a frame that was checked; the caller may change or drop it afterwards."""
        if self.staging.shape_as(pixel_format, width, height):
            self._array = None
        if self._array is None:
            self._array = self.staging.new_array()
        if self._own_input:
            self.input.shape_as(pixel_format.channels, height, width)
        # numpy takes any strides and read-only arrays, and makes no tensor of the frame's memory.
        self._array[...] = frame.data
