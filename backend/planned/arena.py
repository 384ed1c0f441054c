"""One grow-only block for all activations, and where in it each of them lies."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from backend.buffer import GrowOnlyBuffer

FLOAT_BYTES = 4
_ALIGNMENT = 16
"""floats: a cache line"""


class Arena(GrowOnlyBuffer):
    """Float32 memory that grows in place: views made before stay valid and see the new memory.

    So plans of smaller geometries need not be made anew when a larger one arrives.
    """

    __slots__ = ("start",)

    def __init__(self) -> None:
        super().__init__(torch.device("cpu"))
        self.start = ctypes.c_void_p()
        """where the memory is now, for native code: growing moves it"""

    def reserve(self, nbytes: int) -> bool:
        """Grow to `nbytes` if that is more; True if it grew. On MemoryError nothing changed."""
        if nbytes <= self.capacity:
            return False
        try:
            self._storage.resize_(nbytes)
        except RuntimeError as error:
            raise MemoryError(f"cannot allocate {nbytes} bytes for activations") from error
        self.capacity = nbytes
        self.start.value = self._storage.data_ptr()
        return True

    def floats(
        self, shape: tuple[int, ...], stride: tuple[int, ...], offset: int = 0
    ) -> torch.Tensor:
        """A view; stride and offset count floats."""
        return self.view(torch.float32, shape, stride, offset)

    def place_of(self, tensor: torch.Tensor) -> int | None:
        """Where a view of floats begins, in floats; None if the tensor is no view of the arena."""
        if tensor.untyped_storage().data_ptr() != self._storage.data_ptr():
            return None
        return int(tensor.storage_offset())


@dataclass(slots=True)
class Item:
    """A piece of the arena, and when it is alive.

    `span` counts layers in the order of execution, first and last one included, `stage` stages.
    Pieces of one lane (a thread's own) follow each other by `span`; lanes run at the same time, so
    pieces of two lanes can share memory only if their stages are apart. What all lanes share has
    lane -1.
    """

    name: str
    floats: int
    span: tuple[int, int]
    stage: tuple[int, int]
    lane: int = -1
    offset: int = 0

    def meets(self, other: Item) -> bool:
        """Whether both are alive at once."""
        if self.lane == other.lane:
            return self.span[0] <= other.span[1] and other.span[0] <= self.span[1]
        return self.stage[0] <= other.stage[1] and other.stage[0] <= self.stage[1]


_ORDERS: tuple[Callable[[Item], tuple[int, ...]], ...] = (
    lambda item: (-item.floats, item.span[0]),
    lambda item: (item.lane, -item.floats),
    lambda item: (item.span[0] - item.span[1], -item.floats),
    lambda item: (item.lane, item.span[0] - item.span[1], -item.floats),
)
_ATTEMPTS = 32


def place(items: Sequence[Item]) -> int:
    """Set the offsets of all items, which overlap only where lifetimes allow; floats in all.

    Greedy best fit (as in TFLite's planner): the items in turn, each into the smallest gap that
    holds it, the largest first or those that live longest. If that takes more than is alive at
    once, whatever lies at the very end is given its place first, and all is tried again.
    """
    least = lower_bound(items)
    best_order: list[Item] = []
    best = -1
    for key in _ORDERS:
        order = sorted(items, key=key)
        for _ in range(_ATTEMPTS):
            floats = _place_in_order(order)
            if best < 0 or floats < best:
                best, best_order = floats, order
            if best == least or not order:
                break
            last = max(order, key=_end)
            order = [last, *(item for item in order if item is not last)]
    return _place_in_order(best_order)


def _end(item: Item) -> int:
    return item.offset + rounded(item.floats)


def _place_in_order(items: Sequence[Item]) -> int:
    placed: list[Item] = []
    for item in items:
        item.offset = _best_gap(item, [other for other in placed if other.meets(item)])
        placed.append(item)
        placed.sort(key=lambda other: other.offset)
    return max((_end(item) for item in items), default=0)


def _best_gap(item: Item, taken: Sequence[Item]) -> int:
    """The start of the smallest gap between `taken` (by offset) that holds it, else their end."""
    need, end = rounded(item.floats), 0
    best: tuple[int, int] | None = None
    for other in taken:
        gap = other.offset - end
        if gap >= need and (best is None or gap < best[0]):
            best = gap, end
        end = max(end, _end(other))
    return end if best is None else best[1]


def lower_bound(items: Sequence[Item]) -> int:
    """The most floats alive at any one time: no placement can do with less."""
    most = 0
    for stage in range(1 + max((item.stage[1] for item in items), default=-1)):
        alive = [item for item in items if item.stage[0] <= stage <= item.stage[1]]
        most = max(
            most,
            sum(
                max(
                    sum(
                        rounded(item.floats)
                        for item in alive
                        if item.lane == lane and item.span[0] <= time <= item.span[1]
                    )
                    for time in {item.span[0] for item in alive if item.lane == lane}
                )
                for lane in {item.lane for item in alive}
            ),
        )
    return most


def rounded(floats: int) -> int:
    """Up to a whole number of cache lines."""
    return -(-floats // _ALIGNMENT) * _ALIGNMENT
