"""numpy's memory: its allocator for data, exchanged for one that asks first (NEP 49).

The interface is in C alone. Its functions are reached through the table that numpy has for
extension modules, whose order is a part of its stable ABI. Of the four functions of an allocator
only those that take new memory are replaced: `free` may be called while an exception is on its way,
when no Python may run, and `realloc` is not used for what operations make.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.inject.watch import Watch

_SET_HANDLER, _DEFAULT_HANDLER = 304, 306
"""places of PyDataMem_SetHandler and PyDataMem_DefaultHandler in the table"""
_CAPSULE = b"mem_handler"
_POINTER, _SIZE = ctypes.c_void_p, ctypes.c_size_t


class _Allocator(ctypes.Structure):
    """PyDataMemAllocator of numpy/ndarraytypes.h."""

    _fields_ = [
        ("context", _POINTER),
        ("malloc", _POINTER),
        ("calloc", _POINTER),
        ("realloc", _POINTER),
        ("free", _POINTER),
    ]


class _Handler(ctypes.Structure):
    """PyDataMem_Handler of numpy/ndarraytypes.h."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("allocator", _Allocator),
    ]


_api = ctypes.pythonapi
_get_pointer = ctypes.PYFUNCTYPE(_POINTER, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api)
)
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, _POINTER, ctypes.c_char_p, _POINTER)(
    ("PyCapsule_New", _api)
)
_kept: list[Any] = []
"""For ever: an array is freed by the allocator that made it, whenever that is."""
_current: list[Any] = []
"""the capsule of the allocator that is in place, if one is"""


@contextlib.contextmanager
def watched(watch: Watch) -> Iterator[None]:
    """Have this thread's numpy ask for memory by way of `watch`, as long as the context is open."""
    before = _set_handler()(_capsule(watch))
    try:
        yield
    finally:
        _current.clear()
        _set_handler()(before)


def enter_thread() -> None:
    """Have another thread's too: numpy keeps its allocator in a variable of the context."""
    for capsule in _current:
        _set_handler()(capsule)


def _capsule(watch: Watch) -> Any:
    default = _Handler.from_address(
        _get_pointer(ctypes.cast(_table()[_DEFAULT_HANDLER], _OBJECT).contents.value, _CAPSULE)
    )
    # They are called with the interpreter's lock, which numpy's own let go by themselves.
    take = ctypes.PYFUNCTYPE(_POINTER, _POINTER, _SIZE)(default.allocator.malloc)
    take_zeros = ctypes.PYFUNCTYPE(_POINTER, _POINTER, _SIZE, _SIZE)(default.allocator.calloc)

    def malloc(context: int | None, size: int) -> int | None:
        return None if watch.reached("numpy", "numpy: memory") else take(context, size)

    def calloc(context: int | None, count: int, size: int) -> int | None:
        refused = watch.reached("numpy", "numpy: zeros")
        return None if refused else take_zeros(context, count, size)

    functions = (
        ctypes.CFUNCTYPE(_POINTER, _POINTER, _SIZE)(malloc),
        ctypes.CFUNCTYPE(_POINTER, _POINTER, _SIZE, _SIZE)(calloc),
    )
    handler = _Handler.from_buffer_copy(default)
    handler.name = b"steadyframe"
    handler.allocator.malloc, handler.allocator.calloc = (
        ctypes.cast(function, _POINTER).value for function in functions
    )
    capsule = _new_capsule(ctypes.addressof(handler), _CAPSULE, None)
    _kept.append((handler, functions, capsule))
    _current[:] = [capsule]
    return capsule


_OBJECT = ctypes.POINTER(ctypes.py_object)


def _table() -> Any:
    import numpy as np

    capsule = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    return ctypes.cast(_get_pointer(capsule, None), ctypes.POINTER(_POINTER))


def _set_handler() -> Any:
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(_table()[_SET_HANDLER])
