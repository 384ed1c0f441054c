"""The screening probe: a few numbers at each step boundary, at native speed.

glibc's heap statistics are exact at quiescent moments and see what no tracer of calls does: memory
from a malloc that was reached through a pointer. CPython's count of small blocks sees every Python
object. Neither can say where; that takes a second run of the same workload under a tracer.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Protocol

import psutil

FIELDS = ("heap_bytes", "python_blocks", "threads", "descriptors", "virtual_pages")


class Numbers(Protocol):
    """Preallocated memory for the samples, FIELDS after FIELDS."""

    def __setitem__(self, index: int, value: int, /) -> None: ...


class Sampler:
    """Writes one sample each time it is called."""

    def __init__(self, samples: Numbers) -> None:
        self._samples = samples
        self._at = 0

    def __call__(self) -> None:
        """Sample this moment. Every other thread must be asleep."""
        settle()
        at, samples = self._at, self._samples
        heap = psutil.heap_info()
        samples[at] = heap.heap_used + heap.mmap_used
        samples[at + 1] = sys.getallocatedblocks()
        samples[at + 2] = len(os.listdir("/proc/self/task"))
        samples[at + 3] = len(os.listdir("/proc/self/fd"))
        samples[at + 4] = _virtual_pages()
        self._at = at + len(FIELDS)


def settle() -> None:
    """Have the interpreter give back what it keeps for itself, so that counts can be compared.

    A full collection empties the free lists of tuples, lists, dicts and floats. It takes some
    microseconds if what was there when the run began is out of its sight (gc.freeze).

    The cache of method look-ups holds a reference to each name that was looked up, up to 4,096 of
    them. torch makes new ones all the time (`__dlpack__` with each `torch.tensor`), and the
    reference backend then seems to leave five blocks a cycle. Without the cache it leaves none.
    """
    gc.collect()
    sys._clear_type_cache()


def _virtual_pages() -> int:
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(descriptor, 64).split(b" ", 1)[0])
    finally:
        os.close(descriptor)
