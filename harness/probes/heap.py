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

from harness.probes import cuda as cuda_probe

FIELDS = (
    "heap_bytes",
    "python_blocks",
    "threads",
    "descriptors",
    "virtual_pages",
    "cuda_bytes",
    "cuda_blocks",
    "pinned_bytes",
)
"""The last three are 0 without a GPU."""


class Numbers(Protocol):
    """Preallocated memory for the samples, FIELDS after FIELDS."""

    def __setitem__(self, index: int, value: int, /) -> None: ...


class Sampler:
    """Writes one sample each time it is called."""

    def __init__(self, samples: Numbers, slow_every: int = 1) -> None:
        """`slow_every`: all but heap bytes is read with every so many samples only, and repeated in
        the others."""
        self._samples = samples
        self._at = 0
        self._slow_every = slow_every
        self._until_slow = 1
        self._slow: tuple[int, ...] = ()
        self._read_cuda = cuda_probe.reader()

    def __call__(self) -> None:
        """Sample this moment. Every other thread must be asleep."""
        self._until_slow -= 1
        slow = not self._until_slow
        if slow:
            self._until_slow = self._slow_every
            settle()
        at, samples = self._at, self._samples
        heap = psutil.heap_info()
        samples[at] = heap.heap_used + heap.mmap_used
        if slow:
            blocks = sys.getallocatedblocks()
            cuda = self._read_cuda()
            self._slow = (blocks, _threads(), _descriptors(), _virtual_pages(), *cuda)
        at += 1
        for value in self._slow:
            samples[at] = value
            at += 1
        self._at = at


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


def _threads() -> int:
    return os.stat("/proc/self/task").st_nlink - 2


def _descriptors() -> int:
    # Their number is the folder's size, from Linux 6.2 on; listing them opens one more.
    return os.stat("/proc/self/fd").st_size or len(os.listdir("/proc/self/fd")) - 1


def _virtual_pages() -> int:
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)
    try:
        return int(os.read(descriptor, 64).split(b" ", 1)[0])
    finally:
        os.close(descriptor)
