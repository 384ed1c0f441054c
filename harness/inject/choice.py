"""Which operations are to fail: all, or of those at one stack the ones that may matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.inject.points import Baseline, Operation, Point
from harness.workload import Workload

_BATCH = 24
"""points to a child: enough that its start hardly counts, and few enough to share among jobs"""
_ONCE = ("open", "close")
"""phases in which a stack that is reached again and again is a loop over parts of the whole"""


@dataclass(frozen=True)
class Chosen:
    """A point, and the operation that it is."""

    point: Point
    operation: Operation
    index: int
    total: int
    first_use: bool


def segments_of(workload: str) -> list[int]:
    """The segment of each frame."""
    segments = Workload.parse(workload).segments
    return [number for number, segment in enumerate(segments) for _ in range(segment.frames)]


def distinct(operations: Sequence[Operation], segments: Sequence[int]) -> list[int]:
    """Numbers of the operations that may matter.

    The first at each stack in each segment of the workload, as a buffer that has been there
    before fails otherwise than a new one. Of those within opening and closing the last too, when
    all the others are done and have to be undone; and every start of a thread.

    `segments` has the segment of each frame.
    """
    first: dict[tuple[str, int], int] = {}
    last: dict[str, int] = {}
    taken: set[int] = set()
    for number, operation in enumerate(operations):
        segment = segments[operation.frame] if operation.frame >= 0 else 0
        first.setdefault((operation.key, segment), number)
        if operation.phase in _ONCE:
            last[operation.key] = number
        if operation.kind == "thread":
            taken.add(number)
    return sorted(taken.union(first.values(), last.values()))


def choose(baseline: Baseline, segments: Sequence[int], everything: bool) -> list[Chosen]:
    """The points, first each of them alone, then with all that follows.

    What is done in a process's first cycle alone has a place before all else.
    """
    usual = {operation.key for operation in baseline.again.operations}
    once = [operation for operation in baseline.first.operations if operation.key not in usual]
    total = len(once) + len(baseline.again.operations)
    found = []
    for lasting in (False, True):
        before = 0
        for operations, first_use in ((once, True), (baseline.again.operations, False)):
            chosen = range(len(operations)) if everything else distinct(operations, segments)
            for number in chosen:
                operation = operations[number]
                point = Point(operation.key, operation.occurrence, lasting)
                found.append(Chosen(point, operation, before + number + 1, total, first_use))
            before += len(operations)
    return found


def batches(chosen: Sequence[Chosen]) -> Iterator[list[Chosen]]:
    """Points that share a child; one of a first use has its own."""
    yield from ([each] for each in chosen if each.first_use)
    rest = [each for each in chosen if not each.first_use]
    yield from (rest[at : at + _BATCH] for at in range(0, len(rest), _BATCH))
