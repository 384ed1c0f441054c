"""Memory that only ever grows."""

from __future__ import annotations

import torch


class GrowOnlyBuffer:
    """A block of memory whose capacity never shrinks, and the views on it.

    The capacity is always that of memory which is really there: a growing allocation that fails
    leaves the buffer as it was.
    """

    __slots__ = ("_storage", "capacity", "device", "pinned")

    def __init__(self, device: torch.device, *, pinned: bool = False) -> None:
        self.device = device
        self.pinned = pinned
        self.capacity = 0
        """bytes"""
        self._storage = allocate(0, device, pinned)

    def reserve(self, nbytes: int) -> bool:
        """Grow to `nbytes` if that is more than the capacity; True if it grew.

        Views made before keep the old memory: the caller drops them. What was in the buffer is
        lost. Raises MemoryError, and then nothing has changed.
        """
        if nbytes <= self.capacity:
            return False
        self._storage = allocate(nbytes, self.device, self.pinned)
        self.capacity = nbytes
        return True

    def view(
        self,
        dtype: torch.dtype,
        shape: tuple[int, ...],
        stride: tuple[int, ...],
        offset: int = 0,
    ) -> torch.Tensor:
        """A tensor on the buffer's memory; stride and offset count elements of `dtype`.

        Every view is a tensor of its own, not a torch "view" of another one, and never an
        inference tensor, whatever mode the caller is in: one that was made in inference mode
        could not be written to outside of it.
        """
        with torch.inference_mode(False):
            blank = torch.empty(0, dtype=dtype, device=self.device)
            return blank.set_(self._storage, offset, shape, stride)

    def use_count(self) -> int:
        """How many owners the memory has: this buffer, its views, and whoever else refers to it."""
        return int(torch._C._storage_Use_Count(self._storage._cdata))


def allocate(nbytes: int, device: torch.device, pinned: bool) -> torch.UntypedStorage:
    """Ask for memory: the one place where the backend does. Raises MemoryError."""
    try:
        with torch.inference_mode(False):
            block = torch.empty(nbytes, dtype=torch.uint8, device=device, pin_memory=pinned)
    except (RuntimeError, TypeError) as error:
        # torch says RuntimeError when there is no memory, TypeError when a size overflows.
        raise MemoryError(f"cannot allocate {nbytes} bytes on {device}") from error
    return block.untyped_storage()
