"""How much of what the heap grew by the tracer has seen, and which line the rest is to blame on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from harness.owners import HARNESS
from harness.screening import LEAST_CHUNK
from harness.spec import LineGrowth
from harness.timeline import Timeline

_HEADER = 8
"""bytes that malloc adds to a request"""
_GRAIN = 16
"""bytes: blocks are multiples of it, and one may get as much more if the rest is too small"""


def accounted(timeline: Timeline, first: int, last: int) -> int:
    """Heap bytes that what the tracer has seen may take up: added from one interval's end to the
    other's, -1 being the moment before the first."""
    added: Counter[int] = Counter()
    for span in timeline.spans:
        if span.site.owner != HARNESS:
            added[span.size] += span.count * (
                (span.born <= last < span.died) - (span.born <= first < span.died)
            )
    return sum(count * _most(size) if count > 0 else count * _chunk(size)
               for size, count in added.items())  # fmt: skip


def requested(timeline: Timeline, first: int, last: int) -> dict[tuple[str, int], int]:
    """By file and line: bytes that the blocks seen by the tracer in these intervals take up."""
    sizes: Counter[tuple[str, int]] = Counter()
    for births in timeline.births[first : last + 1]:
        for site, born in births.items():
            sizes[site.file, site.line] += born.bytes + born.count * (_HEADER + 2 * _GRAIN)
    return sizes


def blame(
    lines: Iterable[LineGrowth], seen: Mapping[tuple[str, int], int], rises: int
) -> tuple[list[LineGrowth], bool]:
    """The lines that added heap bytes which the tracer did not see, and whether that is certain.

    What is certain is what a line added at which the tracer has seen nothing, or less. A line may
    allocate what another one frees: if no line is certain, all that added anything may be it. What
    added less than a block at each fourth of the `rises` of the heap is left out if anything added
    more: a line at which a thread let go of the interpreter has a little of another thread's.
    """
    added = sorted((line for line in lines if line.bytes > 0), key=lambda line: -line.bytes)
    certain = [
        line for line in added if line.bytes - seen.get((line.file, line.line), 0) >= LEAST_CHUNK
    ]
    blamed = certain or added
    often = [line for line in blamed if 4 * line.bytes >= rises * LEAST_CHUNK]
    return often or blamed, bool(certain)


def _chunk(size: int) -> int:
    """Bytes of the heap that a block of so many bytes takes at the least."""
    return max(LEAST_CHUNK, (size + _HEADER + _GRAIN - 1) // _GRAIN * _GRAIN)


def _most(size: int) -> int:
    return _chunk(size) + _GRAIN
