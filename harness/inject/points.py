"""What can fail in a run, and which of it is to fail: plain data between parent and child."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from harness.result import StackFrame

Kind = Literal["operator", "forward", "numpy", "thread"]
BASELINE = "baseline.json"
"""file of a Baseline"""
SEEN = "seen.jsonl"
"""file of what became of each point, one to a line, written as soon as it is known"""
LEFT = ("threads", "descriptors")
"""what a first use leaves that can be told from what a failure leaves"""

OUT_OF_MEMORY = (
    "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you "
    "tried to allocate 1099511627776 bytes. Error code 12 (Cannot allocate memory)"
)
NO_THREAD = "can't start new thread"
"""How torch and Python say it. numpy says it itself: its allocator is made to return nothing."""


class Place(NamedTuple):
    """Where a run is."""

    phase: str
    frame: int
    """last one submitted"""
    returned: int
    """results and exceptions that have come back"""


class Operation(msgspec.Struct, frozen=True):
    """One operation of the run without a failure."""

    key: str
    """equal for the same operation at the same stack, in every process"""
    occurrence: int
    """how often that had been reached, from 1"""
    kind: Kind
    name: str
    """such as aten.empty.memory_format"""
    thread: str
    phase: str
    frame: int
    """the last one submitted; -1 before the first"""


class Counted(msgspec.Struct, frozen=True):
    """The operations of a cycle without a failure, and what it gave."""

    operations: tuple[Operation, ...]
    """thread by thread, in the order of their starts, so that the scheduler has no say in it"""
    due: tuple[str | None, ...]
    """a mark of each result (see harness.inject.judge), None for one that can't be compared"""
    left: tuple[int, ...]
    """how many more of each of LEFT there are at its end than at its beginning"""


class Baseline(msgspec.Struct, frozen=True):
    """What the counting run leaves: its first cycle, the one after, and where each operation is."""

    first: Counted
    again: Counted
    stacks: dict[str, tuple[StackFrame, ...]]
    """by key, innermost frame first"""


class Point(msgspec.Struct, frozen=True):
    """An operation that is to fail."""

    key: str
    occurrence: int
    lasting: bool = False
    """all operations after it fail too, until close has been called"""


class Failing(msgspec.Struct, frozen=True):
    """What a child is to have fail, one point after the other, until one has broken something."""

    points: tuple[Point, ...]
    due: tuple[str | None, ...]
    left: tuple[int, ...]
    first_use: bool = False
    """the points are of a process's first cycle: so the first one is the only one"""


class Break(msgspec.Struct, frozen=True):
    """What was not as it must be after a failure."""

    kind: str
    """a key of harness.inject.judge.KINDS"""
    text: str
    frame: int = -1
    stack: tuple[StackFrame, ...] = ()
    """of a run that did not end: where it was, innermost frame first"""


class Seen(msgspec.Struct, frozen=True):
    """What became of one point."""

    reached: bool
    """false if this time the run did not come to it"""
    breaks: tuple[Break, ...] = ()
