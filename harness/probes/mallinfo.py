"""glibc's account of its heap, to be read while a trace is on.

The numbers are those of `psutil.heap_info`, which is what is read elsewhere. That one opens libc
anew with each call, and memray then hooks the functions of every loaded library once more: 40 ms
with torch, where this takes microseconds.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple


class Heap(NamedTuple):
    """Bytes in use."""

    used: int
    """in the arenas"""
    mapped: int
    """in mappings of their own"""


class _Mallinfo2(ctypes.Structure):
    """As in <malloc.h>."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keepcost",
        )
    ]


# glibc has it from 2.33 on; of a C library without it psutil knows what to do.
_read = getattr(ctypes.CDLL("libc.so.6"), "mallinfo2", None)
if _read is not None:
    _read.restype = _Mallinfo2


def heap() -> Heap:
    """What is allocated now, by all threads."""
    if _read is None:
        import psutil  # whoever judges a ledger needs none of it

        info = psutil.heap_info()
        return Heap(info.heap_used, info.mmap_used)
    counted = _read()
    return Heap(counted.uordblks, counted.hblkhd)
