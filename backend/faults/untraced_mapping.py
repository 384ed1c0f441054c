"""Pages mapped through a function pointer for each instance, and never unmapped."""

from __future__ import annotations

import ctypes
import mmap

from backend.faults.fault import Fault
from backend.frame import Frame

_LENGTH = 1 << 20
_libc = ctypes.CDLL(None)
map_by_pointer = ctypes.CFUNCTYPE(
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)(("mmap", _libc))
unmap_by_pointer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)(
    ("munmap", _libc)
)


class Faulty:
    """Asks the system itself."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._pages = map_by_pointer(None, _LENGTH, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Gives the pages back."""

    def close(self) -> None:
        """Unmap the pages."""
        unmap_by_pointer(self._pages, _LENGTH)


FAULT = Fault(
    about="pages mapped through a function pointer stay mapped",
    rule="teardown-resources",
    kind="anonymous-mapping",
    workload="32x32@25*12",
    cycles=4,
    faulty=Faulty,
    repaired=Repaired,
)
