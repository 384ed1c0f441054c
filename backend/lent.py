"""Input buffers that a model keeps, and their way back."""

from __future__ import annotations

import contextlib

import torch

from backend.convert import PlanarTensor
from backend.stats import Counters

MAX_LENT = 16
"""How many kept inputs are followed; of a model that keeps more, the oldest are its own."""


class LentBuffers:
    """The input buffers that are, or were, with the model; shared by all requests.

    A model that keeps its inputs for a while (a delay, a sliding window) makes a fixed number of
    buffers circulate between the requests and this list. One that keeps every input gets a new
    buffer for each, and only the last MAX_LENT are remembered.
    """

    __slots__ = ("_buffers", "_counters", "_device", "_lent_at")

    def __init__(self, device: torch.device, counters: Counters) -> None:
        self._device = device
        self._counters = counters
        # Of fixed length, so that no list is resized per frame.
        self._buffers: list[PlanarTensor | None] = [None] * MAX_LENT
        self._lent_at = [0] * MAX_LENT

    def __len__(self) -> int:
        return sum(buffer is not None for buffer in self._buffers)

    def exchange(self, kept: PlanarTensor) -> PlanarTensor:
        """Leave `kept` to the model; the buffer to go on with, at least as large.

        That one is empty if there is no memory for it: the request's next frame tries again. Raises
        what torch raises if there is none even for that, and then nothing has changed.
        """
        index = self._find_returned()
        if index is None:
            index = self._find_place()
            substitute = self._new(kept.buffer.capacity)
        else:
            returned = self._buffers[index]
            assert returned is not None
            substitute = returned
        self._counters.retained_inputs += 1
        self._buffers[index] = kept
        self._lent_at[index] = self._counters.retained_inputs
        return substitute

    def reserve(self, nbytes: int) -> None:
        """See to it that no buffer that comes back is smaller. Raises MemoryError.

        What the model still holds can't grow: it is the model's alone from now on, and a larger
        one takes its place. So all growth falls on the frame that is larger than any before.
        """
        for index, buffer in enumerate(self._buffers):
            if buffer is None or buffer.buffer.capacity >= nbytes:
                continue
            if buffer.is_shared():
                buffer = PlanarTensor(self._device)
            self._counters.growth_events += buffer.reserve(nbytes)
            self._buffers[index] = buffer

    def clear(self) -> None:
        """Forget all; the model's references keep what it holds."""
        self._buffers = [None] * MAX_LENT

    def _find_returned(self) -> int | None:
        for index, buffer in enumerate(self._buffers):
            if buffer is not None and not buffer.is_shared():
                return index
        return None

    def _find_place(self) -> int:
        """An empty place, else that of the buffer that was lent longest ago."""
        for index, buffer in enumerate(self._buffers):
            if buffer is None:
                return index
        return min(range(MAX_LENT), key=self._lent_at.__getitem__)

    def _new(self, nbytes: int) -> PlanarTensor:
        buffer = PlanarTensor(self._device)
        # The frame itself is good: its result must not be lost for want of the next buffer.
        with contextlib.suppress(MemoryError):
            self._counters.growth_events += buffer.reserve(nbytes)
        return buffer
