"""Result frames: memory that is reused once, and only once, nobody refers to it any more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from backend.convert import PackedPixels
from backend.errors import FrameError, describe_frame, frame_error
from backend.frame import Frame, PixelFormat
from backend.stats import Counters

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ResultSlot:
    """One result frame and its memory.

    The frame and its array are handed out as they are, again and again. Whether the consumer is
    done with them is read from their reference counts: whatever shares the memory (a numpy view,
    a memoryview, a tensor made from it) holds a reference to the array. This is exact under the
    global interpreter lock, and needs neither a finaliser nor a call from the consumer.

    Whoever runs the inference fills it; `hand_out` is for the caller's thread.
    """

    __slots__ = (
        "_array",
        "_array_count",
        "_frame_count",
        "_is_outdated",
        "frame",
        "is_awaited",
        "pixels",
    )

    def __init__(self) -> None:
        self.pixels = PackedPixels()
        self.frame = Frame(None, width=0, height=0)
        self.is_awaited = False
        """it holds a result that is still to be handed out"""
        self._array: NDArray[Any] | None = None
        """that of the result that was handed out last"""
        self._is_outdated = True
        """the array shows other memory than the pixels', or in another shape"""
        self._frame_count = self._count_frame()
        self._array_count = 0

    # Baseline and test go through the same two functions, so that both count the same
    # references of the interpreter's own.
    def _count_frame(self) -> int:
        return sys.getrefcount(self.frame)

    def _count_array(self) -> int:
        return sys.getrefcount(self._array)

    def is_free(self) -> bool:
        """Whether nobody waits for the result, or refers to the frame or to its memory."""
        if self.is_awaited or self._count_frame() > self._frame_count:
            return False
        self.frame.data = self._array  # the consumer may have put something else there
        return self._array is None or self._count_array() <= self._array_count

    def shape_as(self, pixel_format: PixelFormat, width: int, height: int, pts: int) -> None:
        """Make the frame one of this geometry. Only while the slot is free, and has the room."""
        if self.pixels.shape_as(pixel_format, width, height):
            self._is_outdated = True
        frame = self.frame
        frame.format, frame.width, frame.height, frame.pts = pixel_format.name, width, height, pts

    def hand_out(self) -> Frame | FrameError:
        """The frame, which is the consumer's from now on; or why there is none: the slot is free.

        A new array, if one is needed, is made here, and the old one dropped: see `PackedPixels`.
        """
        frame = self.frame  # from here on the slot is not free, whatever it says of itself
        self.is_awaited = False
        if not self._is_outdated and not self._is_altered():
            return frame
        handled = sys.exception()
        try:
            self._array = frame.data = self.pixels.new_array()
        except Exception as error:  # of whatever kind numpy's or torch's want of memory is
            return frame_error(describe_frame(frame), error, handled)
        self._array_count = self._count_array()
        self._is_outdated = False
        return frame

    def _is_altered(self) -> bool:
        """Whether the consumer has reshaped or locked the array that it was handed."""
        array, pixels = self._array, self.pixels
        assert array is not None
        assert pixels.pixel_format is not None
        shape = pixels.pixel_format.shape(pixels.width, pixels.height)
        return array.shape != shape or not array.flags.writeable


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
        """A free slot of this geometry, which stays free until a result is awaited from it.

        Raises MemoryError; then the pool is as it was.
        """
        nbytes = pixel_format.nbytes(width, height)
        found = self._find_free(nbytes, pixel_format, width, height)
        slot = found or ResultSlot()
        self._counters.growth_events += slot.pixels.reserve(nbytes)
        if found is None:
            self._add(slot)
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
