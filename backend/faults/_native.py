"""malloc in three ways: as the interpreter calls it, through a pointer, and aligned."""

from __future__ import annotations

import ctypes

raw_malloc = ctypes.pythonapi.PyMem_RawMalloc
raw_malloc.restype, raw_malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
raw_free = ctypes.pythonapi.PyMem_RawFree
raw_free.restype, raw_free.argtypes = None, [ctypes.c_void_p]

_libc = ctypes.CDLL(None)
malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(("malloc", _libc))
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(("free", _libc))
posix_memalign = _libc.posix_memalign
posix_memalign.restype = ctypes.c_int
posix_memalign.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t, ctypes.c_size_t]
