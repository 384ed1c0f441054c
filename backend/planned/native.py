"""A plan's calls as a table that native code runs, so that Python's lock is not taken between them.

A call of torch costs a microsecond of Python beside what it does, and two threads that make calls
of a few microseconds hand the lock to and fro at every one. The library is compiled when the
package is installed, if there is a C compiler; without it, plans run as calls of torch. It takes
its matrix product from the BLAS that torch itself brings.
"""

from __future__ import annotations

import ctypes
import importlib.util
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import torch

from backend.planned.arena import FLOAT_BYTES, Arena
from backend.planned.operation import DIMS, Operation, operation_of
from backend.planned.ops.base import Call

Piece: TypeAlias = bytes | Call
"""operators for native code, one behind the other, or a call that has none"""

Chunk: TypeAlias = tuple[bytes, tuple[bytes, ...]]
"""a list of parts, and the parts that it points to"""

_OPERANDS = 4
# As in native.c: Operator; an address and a count, of Part and Chunk; and Table up to its chunks.
_OPERATOR = struct.Struct(f"=ii{DIMS}q{_OPERANDS}q{_OPERANDS * DIMS}qff")
_COUNTED = struct.Struct("=qq")
_TABLE = struct.Struct("=qqqq")
# A new geometry takes no block of a page or more, however tall its frames are: not even to join
# bytes, for which CPython takes 80 bytes apiece.
_OPERATORS = 19
_COUNTS = 50


class Library(NamedTuple):
    """Native code, and what it calls."""

    run: Callable[[bytes], None]
    """runs a table"""
    addresses: tuple[int, int]
    """of BLAS's product, and of what sets how many threads it takes, 0 if nothing need be set"""


def _load() -> Library | None:
    found = importlib.util.find_spec("backend.planned._native")
    if found is None or found.origin is None:
        return None
    blas = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
    gemm = _address(blas, "sgemm_")
    if gemm == 0:
        return None
    # No argument types: with them, ctypes allocates for each argument of each call.
    run = ctypes.CDLL(found.origin).steadyframe_run
    run.restype = None
    return Library(run, (gemm, _address(blas, "MKL_Set_Num_Threads_Local")))


def _address(blas: ctypes.CDLL, name: str) -> int:
    try:
        return ctypes.cast(blas[name], ctypes.c_void_p).value or 0
    except AttributeError:
        return 0


LIBRARY = _load()
"""The compiled library, None if there is none or if torch's BLAS can't be called. It is loaded with
this module, so that no frame has to wait for it."""


class NativeCall:
    """Runs one table. It keeps what the table points to, but for the arena and constants."""

    __slots__ = ("_kept", "_run", "_table")

    def __init__(self, run: Callable[[bytes], None], table: bytes, kept: object) -> None:
        self._run, self._table, self._kept = run, table, kept

    def __call__(self) -> None:
        self._run(self._table)


def translated(calls: Iterable[Call], arena: Arena) -> Iterator[Piece]:
    """Operators for calls, where there is a library and an operator for them.

    All memory that they write to must be the arena's, which may grow afterwards; their constants
    must outlive the result.
    """
    if LIBRARY is None:
        yield from calls
        return
    operators: list[bytes] = []
    for call in calls:
        operation = operation_of(call)
        if operators and (operation is None or len(operators) == _OPERATORS):
            yield b"".join(operators)
            operators.clear()
        if operation is None:
            yield call
        else:
            operators.append(_packed(operation, arena))
    if operators:
        yield b"".join(operators)


def _packed(operation: Operation, arena: Arena) -> bytes:
    operands, strides = list(operation.operands), list(operation.strides)
    while len(operands) < _OPERANDS:  # the library reads as many, whatever it does with them
        operands.append(operands[-1])
        strides.append(strides[-1])
    in_arena, places = 0, []
    for number, operand in enumerate(operands):
        place = arena.place_of(operand)
        in_arena |= (place is not None) << number
        places.append(operand.data_ptr() if place is None else place * FLOAT_BYTES)
    numbers = (*operation.numbers, 0.0, 0.0)[:2]
    flat = (step for stride in strides for step in _padded(stride))
    return _OPERATOR.pack(
        operation.kind, in_arena, *_padded(operation.size), *places, *flat, *numbers
    )


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, *(0,) * (DIMS - len(numbers)))


def compiled(pieces: Iterable[Piece], arena: Arena) -> Iterator[Call]:
    """Calls that do it all, as few as can be: those without an operator remain between them."""
    chunks: list[Chunk] = []
    chunk: list[bytes] = []
    for piece in pieces:
        native = isinstance(piece, bytes)
        if chunk and (not native or len(chunk) == _COUNTS):
            chunks.append(_chunk(chunk))
            chunk.clear()
        if chunks and (not native or len(chunks) == _COUNTS):
            yield _call(chunks, arena)
            chunks.clear()
        if isinstance(piece, bytes):
            chunk.append(piece)
        else:
            yield piece
    if chunk:
        yield _call([*chunks, _chunk(chunk)], arena)


def _chunk(parts: Sequence[bytes]) -> Chunk:
    return _counted(parts, _OPERATOR.size), tuple(parts)


def _call(chunks: Sequence[Chunk], arena: Arena) -> NativeCall:
    assert LIBRARY is not None
    head = _TABLE.pack(ctypes.addressof(arena.start), *LIBRARY.addresses, len(chunks))
    table = head + _counted([parts for parts, _ in chunks], _COUNTED.size)
    return NativeCall(LIBRARY.run, table, (arena.start, tuple(chunks)))


def _counted(blocks: Iterable[bytes], size: int) -> bytes:
    """Address and length of each block, which is counted in pieces of so many bytes."""
    return b"".join(_COUNTED.pack(_address_of(each), len(each) // size) for each in blocks)


def _address_of(block: bytes) -> int:
    address = ctypes.cast(ctypes.c_char_p(block), ctypes.c_void_p).value
    assert address is not None
    return address
