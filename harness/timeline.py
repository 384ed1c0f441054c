"""Steps x allocations: what every rule reads.

The trace is read once, as a stream. What is kept is, per interval and site, how much was allocated;
and, per site, how much of what was born in interval i died in interval j. From that every other
number follows: live bytes at any boundary are the sum over all that was born before and dies after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.exchange import pairs
from harness.owners import HARNESS, OWN, Site
from harness.plan import PlannedStep
from harness.probes.garbage import Garbage
from harness.result import Count

if TYPE_CHECKING:
    from harness.error_evidence import ErrorEvidence
    from harness.outputs import OutputEvidence

PAGE = 4096
"""bytes; a block of a page or more is a buffer, a smaller one is bookkeeping (views, handles)"""
END = 1 << 60
"""The interval in which a survivor dies."""
BEFORE = -1
# Not imported for its name: it needs numpy, and who reads a trace does not.
FREE_LISTS = str(Path(__file__).parent / "probes" / "free_lists.py")

Held: TypeAlias = dict[str, Any]
"""a ledger of harness.probes.resources"""


@dataclass(slots=True)
class Births:
    """Blocks that one site allocated in one interval."""

    count: int = 0
    bytes: int = 0
    buffers: int = 0
    """how many of them are of a page or more"""
    buffer_bytes: int = 0
    largest: int = 0
    """bytes of the largest"""

    def __add__(self, other: Births) -> Births:
        return Births(
            self.count + other.count,
            self.bytes + other.bytes,
            self.buffers + other.buffers,
            self.buffer_bytes + other.buffer_bytes,
            max(self.largest, other.largest),
        )


@dataclass(frozen=True, slots=True)
class Span:
    """Equal blocks of one site, born in one interval and dying in a later one, or never (END).

    Those born before the first interval have `born` -1.
    """

    site: Site
    size: int
    """bytes of each block"""
    born: int
    died: int
    count: int

    @property
    def bytes(self) -> int:
        """Bytes of all blocks."""
        return self.size * self.count


@dataclass(frozen=True, slots=True)
class Interval:
    """What lies between two marks."""

    kind: Literal["open", "step", "flush", "close", "collect"]
    cycle: int
    step: PlannedStep | None = None

    @property
    def is_steady(self) -> bool:
        """Whether it is a steady step."""
        return self.step is not None and self.step.phase == "steady"


@dataclass
class Timeline:
    """All that was measured of a run, by interval."""

    intervals: list[Interval]
    """those that were finished, in order"""
    births: list[dict[Site, Births]]
    """per interval"""
    spans: list[Span]
    """what outlived the interval it was born in"""
    cycles: int
    events: int = 0
    """records read"""
    in_flight: Sequence[int] = ()
    """per finished step of all cycles"""
    nireq: int | None = None
    """requests that the backend says it has"""
    burst: int = 0
    """frames that were submitted without a wait, in a run of their own"""
    inputs_alive: int | None = None
    """the most of them that the backend referred to at once; None if that was not measured"""
    mapped: Sequence[int] = ()
    """per interval: bytes mapped by traced calls until its end, less what was unmapped again"""
    natives: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    """by file and line: the ways through native code of what a rule may hold against them, in the
    words of harness.native"""
    resources: Sequence[dict[str, object]] = field(default_factory=tuple)
    """what the process held before the first cycle, then after each cycle"""
    garbage: Garbage = field(default_factory=Garbage)
    """what only the garbage collector could free"""
    outputs: OutputEvidence | None = None
    """results held against references; None if that was not measured"""
    errors: ErrorEvidence | None = None
    """what became of bad frames; None if none were tried"""

    @cached_property
    def steps(self) -> list[int]:
        """Numbers of the intervals that are steps."""
        return [n for n, interval in enumerate(self.intervals) if interval.kind == "step"]

    @cached_property
    def _live(self) -> dict[str, list[int]]:
        changes: dict[str, list[int]] = defaultdict(self._no_changes)
        for span in self.spans:
            self._count(changes[span.site.owner], span, span.bytes)
        return {owner: _running_sum(change) for owner, change in changes.items()}

    @cached_property
    def _live_blocks(self) -> dict[int, list[int]]:
        changes: dict[int, list[int]] = defaultdict(self._no_changes)
        for span in self._in_circulation():
            self._count(changes[span.size], span, span.count)
        return {size: _running_sum(change) for size, change in changes.items()}

    def _in_circulation(self) -> Iterator[Span]:
        """All but the harness's own blocks, of which only those in free lists pass to others."""
        for span in self.spans:
            if span.site.owner != HARNESS or (span.born < 0 and span.site.file == FREE_LISTS):
                yield span

    @cached_property
    def live_total(self) -> list[int]:
        """Live bytes at the end of each interval, the harness's own left out.

        Counted from what free lists held at the start: a block that takes the place of one that was
        there before, which the list then gives back, adds nothing.
        """
        changes = self._no_changes()
        kept = 0
        for span in self._in_circulation():
            self._count(changes, span, span.bytes)
            kept += span.bytes if span.born < 0 else 0
        return [total - kept for total in _running_sum(changes)]

    def _no_changes(self) -> list[int]:
        return [0] * (len(self.intervals) + 1)

    def _count(self, changes: list[int], span: Span, amount: int) -> None:
        changes[max(span.born, 0)] += amount
        changes[min(span.died, len(self.intervals))] -= amount

    def live(self, owner: str) -> list[int]:
        """Live bytes of an owner at the end of each interval."""
        return self._live.get(owner) or [0] * len(self.intervals)

    def live_buffers(self, owner: str) -> list[int]:
        """Live bytes in buffers that an owner took in this run, at the end of each interval."""
        changes = self._no_changes()
        for span in self.spans:
            if span.site.owner == owner and span.size >= PAGE and span.born >= 0:
                self._count(changes, span, span.bytes)
        return _running_sum(changes)

    def live_by_owner(self, interval: int) -> dict[str, int]:
        """Bytes that each owner, but the measurement's own, has more at the end of an interval.

        More than when the run began, as in `live_total`, and all together as much.
        """
        live = {
            owner: curve[interval] - self._held_before.get(owner, 0)
            for owner, curve in self._live.items()
            if owner not in OWN
        }
        for owner, taken_over in self._taken_over.items():
            live[owner] -= taken_over[interval]
        return {owner: size for owner, size in sorted(live.items()) if size}

    @cached_property
    def _taken_over(self) -> dict[str, list[int]]:
        others = [span for span in self.spans if span.site.owner not in OWN]
        lent = [span for span in self._in_circulation() if span.site.owner == HARNESS]
        changes: dict[str, list[int]] = defaultdict(self._no_changes)
        for taken in pairs(lent, others):
            self._count(changes[taken.site.owner], taken, taken.bytes)
        return {owner: _running_sum(change) for owner, change in changes.items()}

    @cached_property
    def _held_before(self) -> dict[str, int]:
        held: dict[str, int] = defaultdict(int)
        for span in self.spans:
            if span.born < 0:
                held[span.site.owner] += span.bytes
        return held

    def live_blocks(self, size: int) -> list[int]:
        """Blocks of exactly so many bytes alive at the end of each interval, whoever's they are.

        Free lists of libraries, such as numpy's of array dimensions, pass blocks from hand to hand:
        one that was born for this array lives on in the list, one that was there before is freed in
        its stead. Then no owner has more, though one's blocks outlive it: their number by size says
        so.
        """
        return self._live_blocks.get(size) or [0] * len(self.intervals)

    @cached_property
    def owners(self) -> list[str]:
        """Every owner that allocated anything, the measurement's own left out."""
        seen = {site.owner for births in self.births for site in births}
        return sorted(seen - OWN)

    def by_owner(self, interval: int) -> dict[str, Count]:
        """What each owner, but the measurement's own, allocated in an interval."""
        counts: dict[str, Count] = defaultdict(Count)
        for site, births in self.births[interval].items():
            if site.owner not in OWN:
                counts[site.owner].allocations += births.count
                counts[site.owner].bytes += births.bytes
        return dict(sorted(counts.items()))

    @cached_property
    def spans_by_owner(self) -> dict[str, dict[Site, list[Span]]]:
        """What outlived the interval of its birth, by owner and site."""
        owners: dict[str, dict[Site, list[Span]]] = defaultdict(lambda: defaultdict(list))
        for span in self.spans:
            owners[span.site.owner][span.site].append(span)
        return owners

    @cached_property
    def outlived(self) -> dict[tuple[Site, int], list[Span]]:
        """What outlived the interval of its birth, by site and interval of birth."""
        spans: dict[tuple[Site, int], list[Span]] = defaultdict(list)
        for span in self.spans:
            spans[span.site, span.born].append(span)
        return spans

    def add_ledger(self, before: Held, cycle_ends: Sequence[Held]) -> None:
        """Take in what the process held before the first cycle and after each one.

        The anonymous memory that no traced call has mapped is added to it: all of it, less what is
        in the trace and so is judged by its blocks, the interpreter's arenas included.
        """
        ends = [n for n, interval in enumerate(self.intervals) if interval.kind == "close"]
        self.resources = (
            before,
            *(
                held | {"untraced_bytes": held["anonymous_bytes"] - self.mapped[end]}
                for held, end in zip(cycle_ends, ends, strict=False)
            ),
        )

    def end_of_cycle(self, interval: int) -> int:
        """The interval in which the cycle of this one is closed."""
        return next(
            n for n in range(interval, len(self.intervals)) if self.intervals[n].kind == "close"
        )

    def survivors(self) -> Iterator[Span]:
        """Blocks alive at the end of the run and born in it, but for the harness's."""
        return (s for s in self.spans if s.died == END and s.born >= 0 and s.site.owner != HARNESS)

    def cycle_of(self, interval: int) -> int:
        """The cycle, from 1, that an interval belongs to."""
        return self.intervals[interval].cycle


def _running_sum(changes: list[int]) -> list[int]:
    total, sums = 0, []
    for change in changes[:-1]:
        total += change
        sums.append(total)
    return sums


def layout(cycles: int, steps: Sequence[PlannedStep]) -> list[Interval]:
    """The intervals of a complete run."""
    intervals = [
        interval
        for cycle in range(1, cycles + 1)
        for interval in (
            Interval("open", cycle),
            *(Interval("step", cycle, step) for step in steps),
            Interval("flush", cycle),
            Interval("close", cycle),
        )
    ]
    return [*intervals, Interval("collect", cycles)]
