"""Screening: from the samples of a run at native speed to what grows, and where.

Three patterns of growth are looked for:

frame   over a stretch of steady steps. The stretch is cut in three: the high-water mark must rise
        in each third. A swing reaches its height in the first; an int that passes 256, or a dict
        that is resized, adds its block once.
change  over visits to the same geometry, of one cycle, after the last record step: more at the end
        of each visit than of the one before, over three visits or more; from seven visits on, in
        each third of them.
cycle   over the cycles: more at each one's end than at that of the one before.

What is exactly zero for a clean backend, and what is not (measured on the shipped models, sync and
async, with the allocator as harness.isolate pins it):

- Heap bytes are constant on steady steps, all of them. At the ends of cycles they are constant in
  sync mode; in async mode 16 bytes come or go now and then: the table of thread-locals that each
  new thread gets is a block whose rest was too small to cut off. Such rests are why a rise counts
  only if it is of LEAST_CHUNK bytes, the least that a malloc takes; over cycles, on average.
- Python blocks, once free lists and method cache are emptied (probes.heap.settle), rise by seven to
  nine on two steps, where the counts of frames pass 256, and are constant at the ends of cycles. If
  they are not emptied, they rise by four to nine a cycle.
- Virtual pages follow arenas and thread stacks. They are looked at only if nothing else grows
  within a cycle, and must rise MAPPED_RISES times, in each third of a stretch: arenas come with
  objects, and stacks are kept for the next thread. So shows what memray does not see of what is
  mapped: by a call through a function pointer, and by mremap.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from harness.plan import PlannedStep, one_format
from harness.probes.heap import FIELDS
from harness.result import Extent
from harness.spec import SAMPLES

Field = Literal[
    "heap_bytes",
    "python_blocks",
    "threads",
    "descriptors",
    "cuda_bytes",
    "pinned_bytes",
    "virtual_pages",
]
Pattern = Literal["frame", "change", "cycle"]

LEAST_CHUNK = 32
"""bytes of the smallest block of glibc's malloc, its header included"""
_REST = 16
"""bytes that a block of malloc's may have too many, if they are too few for a block of their own"""
CYCLES_NEEDED = 3
"""What the first cycle adds is first use; what both of the next two add is not."""
_BESIDE_STEPS = 3
"""samples of a cycle that end no step: open, flush and close"""
_SHORTEST_PART = 256
"""Steps to which a stretch is narrowed at the most. A few more under a tracer cost little, and the
first ones may show other things."""
_PARTS = 3
"""A stretch of steady steps is cut into so many parts, and must be as many steps long."""
_FEW_VISITS = 6
"""Up to so many visits to a geometry, each one must add something."""
MAPPED_RISES = 8
_LEAST: dict[Field, int] = {
    "heap_bytes": LEAST_CHUNK,
    "python_blocks": 1,
    "threads": 1,
    "descriptors": 1,
    # Bytes in use, as torch's allocators count them: what they cache is not in it.
    "cuda_bytes": 1,
    "pinned_bytes": 1,
    "virtual_pages": 1,
}
_JUDGED = tuple(field for field in _LEAST if field != "virtual_pages")


@dataclass(frozen=True, slots=True)
class Growth:
    """One quantity that rises again and again."""

    field: Field
    pattern: Pattern
    cycle: int
    """of a growth within a cycle; the last one for a growth over cycles"""
    points: tuple[int, ...]
    """Numbers of intervals, as in harness.timeline.layout: more is there at the end of each one
    than of the one before. For "frame", more than ever since the first one."""
    rises: tuple[int, ...]
    """the intervals in which it rose, after the first point"""
    amount: int
    """bytes, blocks, threads or descriptors added from the first point to the last"""

    @property
    def window(self) -> tuple[int, int]:
        """The first and the last interval of what grew, both included."""
        return self.points[0] + 1, self.points[-1]


class Screening:
    """The samples of a run, by field, cycle and boundary."""

    def __init__(self, samples: Sequence[int], steps: Sequence[PlannedStep], cycles: int) -> None:
        """`samples` as the screening instrument writes them; they may break off."""
        self.steps = steps
        self._per_cycle = len(steps) + _BESIDE_STEPS
        self._samples = samples
        self.taken = taken(samples)
        """how many there are"""
        self.cycles = min(cycles, (self.taken - 1) // self._per_cycle)
        """complete ones"""

    def boundaries(self, field: str, cycle: int) -> Sequence[int]:
        """The values at the ends of the intervals of a complete cycle: open, steps, flush, close.

        Bytes for `heap_bytes`, numbers for all else.
        """
        width = len(FIELDS)
        first = 1 + (cycle - 1) * self._per_cycle
        at, end = first * width + FIELDS.index(field), (first + self._per_cycle) * width
        return self._samples[at:end:width]

    def end(self, field: str, cycle: int) -> int:
        """The value at the end of a complete cycle, or before the first one for 0."""
        return self._samples[cycle * self._per_cycle * len(FIELDS) + FIELDS.index(field)]

    def extents(self) -> dict[str, Extent]:
        """What each field was before the first cycle, at most, and at the end of the last one."""
        width = len(FIELDS)
        last = 1 + self.cycles * self._per_cycle
        curves = {name: self._samples[n : last * width : width] for n, name in enumerate(FIELDS)}
        return {
            name: Extent(curve[0], max(curve), curve[-1])
            for name, curve in curves.items()
            if any(curve)
        }

    def interval(self, cycle: int, boundary: int) -> int:
        """Number, as in harness.timeline.layout, of the interval that a boundary ends."""
        return (cycle - 1) * self._per_cycle + boundary


def taken(samples: Sequence[int]) -> int:
    """How many samples have been written: the rest is zeros, and no process is without a heap."""
    rows = range(len(samples) // len(FIELDS))
    return bisect_left(rows, True, key=lambda row: not samples[row * len(FIELDS)])


def read(folder: Path, steps: Sequence[PlannedStep], cycles: int) -> Screening:
    """What the screening instrument left in a run's folder; raises FileNotFoundError if nothing."""
    return Screening(array("q", (folder / SAMPLES).read_bytes()), steps, cycles)


def find(screening: Screening) -> list[Growth]:
    """What grows in a run: at most one growth of each field and pattern, the largest.

    The last complete cycle stands for all within a cycle. What grows with the frames does so with
    the changes of resolution too, so that these are looked at only if nothing else is seen.
    """
    cycle = screening.cycles
    if cycle < 1:
        return []
    found: list[Growth] = []
    for field in _JUDGED:
        within = _within(screening, field, cycle)
        found += sorted(within, key=lambda growth: -growth.amount)[:1]
        found += _over_cycles(screening, field)
    if not any(growth.pattern != "cycle" for growth in found):
        mapped = _within(screening, "virtual_pages", cycle)
        often = [growth for growth in mapped if len(growth.rises) >= MAPPED_RISES]
        found += sorted(often, key=lambda growth: -growth.amount)[:1]
    return found


def rises_at_last(screening: Screening, field: Field) -> bool:
    """Whether it grows over the last stretch of steady steps of the last complete cycle."""
    values = screening.boundaries(field, screening.cycles)
    *_, last = _stretches(screening.steps)
    return bool(_points(values, last.start, last.stop, _LEAST[field]))


def _within(screening: Screening, field: Field, cycle: int) -> list[Growth]:
    values = screening.boundaries(field, cycle)
    return list(_over_stretches(screening, field, cycle, values)) or list(
        _over_changes(screening, field, cycle, values)
    )


def _over_stretches(
    screening: Screening, field: Field, cycle: int, values: Sequence[int]
) -> Iterator[Growth]:
    for stretch in _stretches(screening.steps):
        # The value before step n is that at the end of interval n, open being interval 0.
        at = _points(values, stretch.start, stretch.stop, _LEAST[field])
        if at:
            yield _growth(screening, field, "frame", cycle, values, at)


def _stretches(steps: Sequence[PlannedStep]) -> Iterator[range]:
    """Runs of consecutive steady steps."""
    start = None
    for number in range(len(steps) + 1):
        steady = number < len(steps) and steps[number].phase == "steady"
        if steady and start is None:
            start = number
        elif not steady and start is not None:
            yield range(start, number)
            start = None


def _points(values: Sequence[int], start: int, stop: int, least: int) -> list[int]:
    """Cuts of a part of values[start : stop + 1] that shows growth, none if there is no such part.

    Growth may begin late: if the whole does not show it, its second half may, or the last quarter,
    and so on. Then the first part of that is taken, by doubling, that shows it too: enough to find
    the site, and quicker.
    """
    while not _rises_in_each_part(values, _cuts(start, stop), least):
        start += (stop - start) // 2
        if stop - start < _SHORTEST_PART:
            return []
    part = _SHORTEST_PART
    while part < stop - start:
        if _rises_in_each_part(values, _cuts(start, start + part), least):
            return _cuts(start, start + part)
        part *= 2
    return _cuts(start, stop)


def _cuts(start: int, stop: int) -> list[int]:
    return [start + (stop - start) * part // _PARTS for part in range(_PARTS + 1)]


def _rises_in_each_part(values: Sequence[int], cuts: Sequence[int], least: int) -> bool:
    """Whether the high-water mark rises between all cuts, by `least` or more in all."""
    if len(set(cuts)) <= _PARTS:
        return False
    marks = [values[cuts[0]]]
    for earlier, later in pairwise(cuts):
        marks.append(max(marks[-1], max(values[earlier + 1 : later + 1])))
    return rises(marks) and marks[-1] - marks[0] >= least


def rises(values: Sequence[int], least: int = 1) -> bool:
    """Whether each value exceeds the one before by `least` or more."""
    return all(later - earlier >= least for earlier, later in pairwise(values))


def _over_changes(
    screening: Screening, field: Field, cycle: int, values: Sequence[int]
) -> Iterator[Growth]:
    steps = screening.steps
    if not one_format(steps):
        return
    last_record = max(n for n, step in enumerate(steps) if step.phase == "record")
    visits: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, step in enumerate(steps):
        following = steps[number + 1] if number + 1 < len(steps) else None
        here = (step.width, step.height)
        if number >= last_record and here != (following and (following.width, following.height)):
            visits[here].append(number + 1)
    for ends in visits.values():
        levels = [values[n] for n in ends]
        if len(ends) <= _FEW_VISITS:
            chosen = list(range(len(ends))) if rises(levels, _LEAST[field]) else []
        else:
            chosen = _points(levels, 0, len(ends) - 1, _LEAST[field])
        if len(chosen) > 2:
            yield _growth(screening, field, "change", cycle, values, [ends[n] for n in chosen])


def _growth(
    screening: Screening,
    field: Field,
    pattern: Pattern,
    cycle: int,
    values: Sequence[int],
    at: Sequence[int],
) -> Growth:
    top, rises = values[at[0]], []
    for boundary in range(at[0] + 1, at[-1] + 1):
        if values[boundary] > top:
            top = values[boundary]
            rises.append(screening.interval(cycle, boundary))
    return Growth(
        field,
        pattern,
        cycle,
        tuple(screening.interval(cycle, boundary) for boundary in at),
        tuple(rises),
        max(values[at[0] : at[-1] + 1]) - values[at[0]],
    )


def _over_cycles(screening: Screening, field: Field) -> Iterator[Growth]:
    cycles = range(1, screening.cycles + 1)
    ends = [screening.end(field, cycle) for cycle in cycles]
    least = (len(ends) - 1) * _LEAST[field] - (_REST if field == "heap_bytes" else 0)
    if len(ends) < CYCLES_NEEDED or not rises(ends) or ends[-1] - ends[0] < least:
        return
    close = len(screening.steps) + _BESIDE_STEPS - 1
    points = tuple(screening.interval(cycle, close) for cycle in cycles)
    yield Growth(field, "cycle", cycles[-1], points, points[1:], ends[-1] - ends[0])
