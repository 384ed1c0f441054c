"""Steps x allocations: what every rule reads.

The trace is read once, as a stream. What is kept is, per interval and site, how much was allocated;
and, per site, how much of what was born in interval i died in interval j. From that every other
number follows: live bytes at any boundary are the sum over all that was born before and dies after.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Literal

from harness.outputs import OutputEvidence
from harness.owners import HARNESS, MODEL, OWN, Owners, Site, owner_by_symbols
from harness.plan import PlannedStep
from harness.probes.garbage import Garbage
from harness.probes.trace import FREES, MARK_SIZE, MUNMAP, Record, is_mark
from harness.result import Count

PAGE = 4096
"""bytes; a block of a page or more is a buffer, a smaller one is bookkeeping (views, handles)"""
END = 1 << 60
"""The interval in which a survivor dies."""
_BEFORE = -1


@dataclass(slots=True)
class Births:
    """Blocks that one site allocated in one interval."""

    count: int = 0
    bytes: int = 0
    buffers: int = 0
    """how many of them are of a page or more"""
    buffer_bytes: int = 0


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
    resources: Sequence[dict[str, object]] = field(default_factory=tuple)
    """what the process held before the first cycle, then after each cycle"""
    garbage: Garbage = field(default_factory=Garbage)
    """what only the garbage collector could free"""
    outputs: OutputEvidence | None = None
    """results held against references; None if that was not measured"""

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
        for span in self.spans:
            # Of the harness's own, only what it put into free lists beforehand is in circulation.
            if span.born < 0 or span.site.owner != HARNESS:
                self._count(changes[span.size], span, span.count)
        return {size: _running_sum(change) for size, change in changes.items()}

    def _no_changes(self) -> list[int]:
        return [0] * (len(self.intervals) + 1)

    def _count(self, changes: list[int], span: Span, amount: int) -> None:
        changes[max(span.born, 0)] += amount
        changes[min(span.died, len(self.intervals))] -= amount

    def live(self, owner: str) -> list[int]:
        """Live bytes of an owner at the end of each interval."""
        return self._live.get(owner) or [0] * len(self.intervals)

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


def build(records: Iterable[Record], intervals: list[Interval], owners: Owners) -> Timeline:
    """Read a trace into a timeline.

    `intervals` are those of a complete run. The timeline has fewer if the trace does not hold the
    marks that end them all: the run broke off, or its trace is damaged.
    """
    reading = _Reading(owners)
    reading.read(records, len(intervals))
    intervals = intervals[: max(0, reading.now)]
    sites = reading.resolve(intervals)
    births = [_by_site(births, sites) for births in reading.births[: len(intervals)]]
    for in_interval, allocations in zip(births, reading.allocations, strict=False):
        # Whatever no rule of ownership names is somebody's all the same: nothing is dropped.
        assert sum(born.count for born in in_interval.values()) == allocations
    return Timeline(
        intervals=intervals,
        births=births,
        spans=[Span(sites[key], *span) for key, *span in reading.all_spans()],
        cycles=intervals[-1].cycle if intervals else 0,
        events=reading.events,
    )


def _by_site(births: dict[int, Births], sites: list[Site]) -> dict[Site, Births]:
    merged: dict[Site, Births] = {}
    for key, new in births.items():
        if (births_there := merged.get(sites[key])) is None:
            merged[sites[key]] = new
        else:
            births_there.count += new.count
            births_there.bytes += new.bytes
            births_there.buffers += new.buffers
            births_there.buffer_bytes += new.buffer_bytes
    return merged


class _Reading:
    """The state of one pass over a trace. Sites are small numbers (keys) until the end."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self._sites: list[Site] = []
        self._samples: list[Record] = []
        self._keys: dict[tuple[int, int], int] = {}
        self._site_keys: dict[Site, int] = {}
        self._live: dict[int, tuple[int, int, int]] = {}
        """address -> (interval of birth, key, bytes)"""
        self._spans: Counter[tuple[int, int, int, int]] = Counter()
        """(key, size, born, died) -> count"""
        self.births: list[dict[int, Births]] = []
        self.allocations: list[int] = []
        """records of each finished interval that are allocations"""
        self.now = _BEFORE
        self.events = 0

    def read(self, records: Iterable[Record], intervals: int) -> None:
        """Take in records up to the mark that ends the last interval."""
        live, keys = self._live, self._keys
        births: dict[int, Births] = {}
        allocations = 0
        for record in records:
            self.events += 1
            allocator = record.allocator
            if allocator in FREES:
                block = live.pop(record.address, None)
                if block is not None and block[0] != self.now:
                    self._spans[block[1], block[2], block[0], self.now] += 1
                continue
            if allocator == MUNMAP:
                self._unmap(record.address, record.size)
                continue
            size = record.size
            if size == MARK_SIZE and is_mark(record):
                if self.now > _BEFORE:
                    self.allocations.append(allocations)
                self.now += 1
                allocations = 0
                if self.now == intervals:
                    return
                births = {}
                self.births.append(births)
                continue
            allocations += 1
            key = keys.get((record.stack_id, record.native_stack_id))
            if key is None:
                key = self._key(record)
            live[record.address] = (self.now, key, size)
            born = births.get(key)
            if born is None:
                born = births[key] = Births()
            born.count += 1
            born.bytes += size
            if size >= PAGE:
                born.buffers += 1
                born.buffer_bytes += size

    def _key(self, record: Record) -> int:
        """A number for a stack seen for the first time."""
        site = self._owners.site(tuple(record.stack_trace()))
        # Equal sites are one, whatever their native stacks, unless these may have to be looked at.
        key = self._site_keys.get(site) if not _may_be_others(site) else None
        if key is None:
            key = len(self._sites)
            self._sites.append(site)
            self._samples.append(record)
            self._site_keys[site] = key
        self._keys[record.stack_id, record.native_stack_id] = key
        return key

    def _unmap(self, address: int, size: int) -> None:
        """Unmapping may cut any part out of one mapping or of several."""
        block = self._live.get(address)
        if block is not None and block[2] == size:
            starts = [address]
        else:
            end = address + size
            starts = [s for s, b in self._live.items() if s < end and address < s + b[2]]
        for start in starts:
            born, key, length = self._live.pop(start)
            head = max(0, address - start)
            tail = max(0, start + length - (address + size))
            if born != self.now:
                self._spans[key, length, born, self.now] += 1
            # What is left of a mapping is a smaller one, that begins now.
            if head:
                self._live[start] = (self.now, key, head)
            if tail:
                self._live[address + size] = (self.now, key, tail)

    def all_spans(self) -> Iterator[tuple[int, int, int, int, int]]:
        """(key, size, born, died, count) of what outlived its interval, survivors included.

        What was born in an interval that never ended is left out.
        """
        survivors = Counter(
            (key, size, born, END) for born, key, size in self._live.values() if born < self.now
        )
        for span, count in chain(self._spans.items(), survivors.items()):
            yield *span, count

    def resolve(self, intervals: list[Interval]) -> list[Site]:
        """The site of each key, with the owners that only native symbols tell.

        To read symbols takes some 20 ms for each address seen for the first time, so only stacks
        are looked at that a rule may hold against the backend.
        """
        late = {n for n, interval in enumerate(intervals) if interval.cycle > 1}
        asked = {key for born, key, _ in self._live.values() if born in late}
        for births, interval in zip(self.births, intervals, strict=False):
            phase = interval.step.phase if interval.step else "record"
            if phase == "steady":
                asked.update(births)
            elif phase == "warm-up":
                asked.update(key for key, born in births.items() if born.buffers)
        sites = list(self._sites)
        for key in asked:
            site = sites[key]
            if _may_be_others(site):
                owner = owner_by_symbols(self._samples[key].native_stack_trace())
                if owner is not None:
                    sites[key] = replace(site, owner=owner)
        return sites


def _may_be_others(site: Site) -> bool:
    """Whether native symbols may name another owner than the lines of Python do."""
    return site.owner not in OWN and site.owner != MODEL
