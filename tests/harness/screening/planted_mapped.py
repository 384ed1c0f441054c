"""Backends that map memory in ways that the tracer does not see."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

from backend.faults.untraced_mapping import map_by_pointer, unmap_by_pointer

MEBIBYTE = 1 << 20


class ByPointer:
    """Maps a mebibyte for every frame through a function pointer, and unmaps them in close.

    They are linked by their first words, so that no Python object is kept for them.
    """

    first: int | None = None

    def __call__(self, frame: Any) -> Any:
        access, private = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        block = map_by_pointer(None, MEBIBYTE, access, private, -1, 0)
        ctypes.c_void_p.from_address(block).value = self.first
        self.first = block
        return frame

    def close(self) -> None:
        while self.first:
            following = ctypes.c_void_p.from_address(self.first).value
            unmap_by_pointer(self.first, MEBIBYTE)
            self.first = following


class ResizedForLarger:
    """Has one mapping, which mremap makes larger for a larger frame, and moves."""

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, mmap.PAGESIZE)

    def __call__(self, frame: Any) -> Any:
        if frame.data.nbytes > len(self.map):
            self.map.resize(frame.data.nbytes)
        return frame

    def close(self) -> None:
        self.map.close()


class ResizedEachFrame(ResizedForLarger):
    """Makes it a mebibyte larger with every frame."""

    def __call__(self, frame: Any) -> Any:
        self.map.resize(len(self.map) + MEBIBYTE)
        return frame
