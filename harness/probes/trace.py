"""The memray probe: one trace of a whole run, split into intervals by marks in its own stream.

A mark is an allocation of a reserved size by one function of the harness, made while the process
is quiescent. memray keeps the records of all threads in one order, so a mark cuts that order: what
lies between two marks happened between them, exactly.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import memray

Record: TypeAlias = "memray.AllocationRecord"

MARK_SIZE = 40_009
"""bytes; a prime that no buffer has by chance, and below the mmap threshold so that it is cheap"""

FREES = frozenset({1, 5})
"""memray's AllocatorType PYMALLOC_FREE and FREE"""
MMAP = 14
MUNMAP = 15
_DESCRIPTORS = "/proc/self/fd"
_OBJECT_RECORDS = frozenset({1, 2, 3, 4})
"""PYMALLOC_FREE, PYMALLOC_MALLOC, PYMALLOC_CALLOC and PYMALLOC_REALLOC"""


def mark() -> None:
    """Cut the trace here. Only to be called while every other thread is asleep."""
    bytearray(MARK_SIZE - 1)  # asks for one byte more, for its terminator


def tracker(path: Path, *, objects: bool = False) -> memray.Tracker:
    """A tracker of every allocation of the process, into a new file.

    With native stacks; or with Python's own small objects, which then have records of their own.
    """
    import memray

    # memray samples the process's size on a thread of its own; once an hour is as good as never.
    return memray.Tracker(
        path,
        native_traces=not objects,
        trace_python_allocators=objects,
        file_format=memray.FileFormat.ALL_ALLOCATIONS,
        memory_interval_ms=3_600_000,
    )


class TraceLostError(Exception):
    """The backend has closed the file that memray writes to."""


class Output:
    """That file, while a tracker is on.

    memray reserves room in it ahead, a tenth of what is there, and writes to that through a
    mapping: what comes once the file has been closed is there or is not, as it happens to fit.
    """

    def __init__(self, path: Path) -> None:
        # Found by its path and known by its inode: it may be removed, which does no harm.
        named = str(path.resolve())
        self._opened = {
            number: _inode(number) for number in _descriptors() if _name(number) == named
        }

    def check(self) -> None:
        """Raise TraceLostError if it is no longer open."""
        if any(_inode(number) != inode for number, inode in self._opened.items()):
            raise TraceLostError(
                "the backend closed the file that the trace is written to: it closes descriptors "
                "that are not its own"
            )


def _descriptors() -> list[int]:
    return [int(name) for name in os.listdir(_DESCRIPTORS)]


def _name(descriptor: int) -> str | None:
    try:
        return os.readlink(f"{_DESCRIPTORS}/{descriptor}")
    except OSError:
        return None


def _inode(descriptor: int) -> tuple[int, int] | None:
    try:
        file = os.fstat(descriptor)
    except OSError:
        return None
    return file.st_dev, file.st_ino


def is_mark(record: Record) -> bool:
    """Whether a record of MARK_SIZE bytes was made by `mark`."""
    innermost = record.stack_trace(max_stacks=1)
    return bool(innermost) and innermost[0][0] == mark.__name__ and innermost[0][1] == __file__


@functools.lru_cache(maxsize=8)
def warm_up(path: Path) -> None:
    """Begin to read the symbol tables of all that is mapped into a traced process.

    memray does it for the first trace that it reads of each helper's runs, in which libraries lie
    elsewhere: before the first record and when the first native stack is asked for. With torch it
    takes 0.8 s, and 0.2 s for another helper: long enough to be done while the child still writes.
    Later calls for the same trace do nothing.
    """
    # Not on that thread: a program that ends by Ctrl-C while another thread imports has the exit
    # code 1 and not the signal's (CPython forgets the signal when a thread compiles a string).
    import memray  # noqa: F401

    threading.Thread(target=_read_symbols, args=(path,), daemon=True).start()


def _read_symbols(path: Path) -> None:
    for record in read(path):
        if record.allocator not in (*FREES, MUNMAP):
            record.native_stack_trace()
            return


def read(path: Path) -> Iterator[Record]:
    """The records of a trace in order. A record stays usable as long as it is kept.

    A trace that was cut off, because its process died, yields what was written.
    """
    import memray

    # What memray prints of a trace that was cut off, the report says in its own words.
    memray.set_log_level(logging.CRITICAL)  # type: ignore[attr-defined]  # not in its stubs
    with contextlib.suppress(OSError):  # memray's word for a file that was not finished
        yield from memray.FileReader(path).get_allocation_records()


def read_objects(path: Path) -> Iterator[Record]:
    """Those records of a trace with `objects` that are of Python's object allocators.

    What these in turn take from malloc has a second record, and would count twice.
    """
    return (record for record in read(path) if record.allocator in _OBJECT_RECORDS)
