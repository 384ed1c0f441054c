"""Result frames: memory that is reused once, and only once, nobody refers to it any more."""

from __future__ import annotations

import sys

from backend.convert import PackedPixels
from backend.frame import Frame, PixelFormat
from backend.stats import Counters


class ResultSlot:
    """One result frame and its memory.

    The frame and its array are handed out as they are, again and again. Whether the consumer is
    done with them is read from their reference counts: whatever shares the memory (a numpy view,
    a memoryview, a tensor made from it) holds a reference to the array. This is exact under the
    global interpreter lock, and needs neither a finaliser nor a call from the consumer.
    """

    __slots__ = ("_array_count", "_frame_count", "frame", "pixels")

    def __init__(self) -> None:
        self.pixels = PackedPixels()
        self.frame = Frame(self.pixels.array, width=0, height=0)
        self._frame_count = self._count_frame()
        self._array_count = self._count_array()

    # Baseline and test go through the same two functions, so that both count the same
    # references of the interpreter's own.
    def _count_frame(self) -> int:
        return sys.getrefcount(self.frame)

    def _count_array(self) -> int:
        return sys.getrefcount(self.pixels.array)

    def is_free(self) -> bool:
        """Whether nobody but the slot refers to the frame or to its memory."""
        if self._count_frame() > self._frame_count:
            return False
        self.frame.data = self.pixels.array  # the consumer may have put something else there
        return self._count_array() <= self._array_count

    def reserve(self, nbytes: int) -> bool:
        """Grow to `nbytes` if need be; True if it grew. Raises MemoryError. Only while free."""
        grew = self.pixels.reserve(nbytes)
        if grew:
            self.frame.data = self.pixels.array
        return grew

    def shape_as(self, pixel_format: PixelFormat, width: int, height: int, pts: int) -> None:
        """Make the frame one of this geometry. Only while the slot is free."""
        if self.pixels.shape_as(pixel_format, width, height):
            self.frame.data = self.pixels.array
            self._array_count = self._count_array()
        frame = self.frame
        frame.format, frame.width, frame.height, frame.pts = pixel_format.name, width, height, pts


MAX_SLOTS = 1024
"""Beyond that many results kept at once, the pool forgets some: then they are the consumer's."""


class ResultPool:
    """Slots that grow in number and size by just what is kept and in flight at once."""

    __slots__ = ("_counters", "_next_forgotten", "_slots")

    def __init__(self, counters: Counters) -> None:
        self._counters = counters
        self._slots: list[ResultSlot] = []
        self._next_forgotten = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def nbytes(self) -> int:
        """Capacity of all slots together."""
        return sum(slot.pixels.buffer.capacity for slot in self._slots)

    def take(self, pixel_format: PixelFormat, width: int, height: int, pts: int) -> ResultSlot:
        """A free slot of this geometry: taken as long as its frame is referred to.

        Raises MemoryError; then the pool is as it was.
        """
        nbytes = pixel_format.nbytes(width, height)
        slot = self._find_free(nbytes, pixel_format, width, height)
        if slot is None:
            slot = ResultSlot()
            self._counters.growth_events += slot.reserve(nbytes)
            self._add(slot)
        else:
            self._counters.growth_events += slot.reserve(nbytes)
        slot.shape_as(pixel_format, width, height, pts)
        return slot

    def clear(self) -> None:
        """Forget all slots; what the consumer keeps stays as it is."""
        self._slots = []

    def _find_free(
        self, nbytes: int, pixel_format: PixelFormat, width: int, height: int
    ) -> ResultSlot | None:
        """The smallest that is large enough, else the largest of the others, else None.

        So a slot grows only when more frames of a size are out at once than ever before. Of slots
        that are equally large, one that has the shape is taken, so that no views are made anew.
        """
        enough: ResultSlot | None = None
        has_shape = False
        """whether `enough` has the shape"""
        largest: ResultSlot | None = None
        for slot in self._slots:
            if not slot.is_free():
                continue
            capacity = slot.pixels.buffer.capacity
            if capacity >= nbytes:
                least = enough.pixels.buffer.capacity if enough else capacity + 1
                shaped = slot.pixels.has_shape(pixel_format, width, height)
                if capacity < least or (capacity == least and shaped and not has_shape):
                    enough, has_shape = slot, shaped
            elif largest is None or capacity > largest.pixels.buffer.capacity:
                largest = slot
        return enough or largest

    def _add(self, slot: ResultSlot) -> None:
        if len(self._slots) < MAX_SLOTS:
            self._slots.append(slot)
            return
        # All are kept by the consumer. Without a limit the search for a free one would take
        # ever longer when a consumer keeps everything.
        self._slots[self._next_forgotten] = slot
        self._next_forgotten = (self._next_forgotten + 1) % MAX_SLOTS
