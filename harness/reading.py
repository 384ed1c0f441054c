"""From a trace to a timeline: one pass over the records, as a stream."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from harness import native
from harness.owners import HARNESS, MODEL, OWN, SOURCE, Owners, Site, owner_by_symbols
from harness.probes.listed import LARGEST, is_for_dimensions, is_listed
from harness.probes.trace import FREES, MARK_SIZE, MMAP, MUNMAP, Record, is_mark
from harness.timeline import BEFORE, END, PAGE, Births, Interval, Span, Timeline

_ARENA = 1 << 20
"""bytes in which pymalloc takes memory for small objects of anybody: when it does so depends on how
full the one before is, so that no line of code may be told to be its owner"""


def build(
    records: Iterable[Record],
    intervals: list[Interval],
    owners: Owners,
    needs_symbols: Callable[[Timeline], bool] = lambda _: True,
    mapped: Sequence[tuple[int, int]] | None = None,
) -> Timeline:
    """Read a trace into a timeline.

    `intervals` are those of a complete run. The timeline has fewer if the trace does not hold the
    marks that end them all: the run broke off, or its trace is damaged. Native symbols, which take
    most of a second to read, can but clear a backend of what its lines of Python seem to show:
    `needs_symbols` is asked whether there is anything to clear it of. `mapped` is all memory that
    the process had at the end: what lies elsewhere is gone, though no record says so, as the trace
    has none of mremap.
    """
    return next(build_parts(records, [intervals], owners, needs_symbols, mapped))


def build_parts(
    records: Iterable[Record],
    parts: Iterable[list[Interval]],
    owners: Owners,
    needs_symbols: Callable[[Timeline], bool] = lambda _: True,
    mapped: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Timeline]:
    """The same for a trace of several runs, one after another in one process: a timeline of each.

    What a run leaves behind was there before the next one begins.
    """
    records = iter(records)
    reading = _Reading(owners)
    for intervals in parts:
        reading.begin()
        reading.read(records, len(intervals))
        finished = intervals[: max(0, reading.now)]
        if mapped is not None:
            reading.forget(mapped, finished)
        timeline = reading.timeline(finished, reading.named(reading.arenas))
        if needs_symbols(timeline):
            timeline = reading.timeline(finished, reading.resolve(finished))
        yield timeline


def _by_site(births: dict[int, Births], sites: list[Site]) -> dict[Site, Births]:
    merged: dict[Site, Births] = {}
    for key, new in births.items():
        there = merged.get(sites[key])
        merged[sites[key]] = new if there is None else there + new
    return merged


class _Reading:
    """The state of one pass over a trace. Sites are small numbers (keys) until the end."""

    def __init__(self, owners: Owners) -> None:
        self._owners = owners
        self.sites: list[Site] = []
        self._samples: list[Record] = []
        self._keys: dict[tuple[int, int], int] = {}
        self._site_keys: dict[Site, int] = {}
        self._live: dict[int, tuple[int, int, int]] = {}
        """address -> (interval of birth, key, bytes)"""
        self._spans: Counter[tuple[int, int, int, int]] = Counter()
        """(key, size, born, died) -> count"""
        self.natives: dict[tuple[str, int], dict[str, None]] = {}
        """by file and line: ways through native code, in the order of their first allocations"""
        self.births: list[dict[int, Births]] = []
        self.allocations: list[int] = []
        """records of each finished interval that are allocations"""
        self.arenas: set[int] = set()
        """keys that may be those of pymalloc's arenas"""
        self._mapped = 0
        self.mapped: list[int] = []
        """per interval"""
        self.now = BEFORE
        self.events = 0

    def begin(self) -> None:
        """Count intervals anew: whatever is alive was there before the first."""
        for address, (_, key, size) in self._live.items():
            self._live[address] = (BEFORE, key, size)
        self._spans = Counter()
        self.births, self.allocations, self.mapped = [], [], []
        self.now = BEFORE
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
                if self.now > BEFORE:
                    self.allocations.append(allocations)
                    self.mapped.append(self._mapped)
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
            if allocator == MMAP:
                self._mapped += size
                if _may_be_arena(record):
                    self.arenas.add(key)
            born = births.get(key)
            if born is None:
                born = births[key] = Births()
            born.count += 1
            born.bytes += size
            if size > born.largest:
                born.largest = size
            if size >= PAGE:
                born.buffers += 1
                born.buffer_bytes += size

    def _key(self, record: Record) -> int:
        """A number for a stack seen for the first time."""
        site = self._owners.site(tuple(record.stack_trace()))
        # Equal sites are one, whatever their native stacks, unless these may have to be looked at.
        alone = _may_be_others(site) or site.owner == SOURCE or _may_be_arena(record)
        key = self._site_keys.get(site) if not alone else None
        if key is None:
            key = len(self.sites)
            self.sites.append(site)
            self._samples.append(record)
            if not alone:
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
            self._mapped -= length - head - tail
            if born != self.now:
                self._spans[key, length, born, self.now] += 1
            # What is left of a mapping is a smaller one, that begins now.
            if head:
                self._live[start] = (self.now, key, head)
            if tail:
                self._live[address + size] = (self.now, key, tail)

    def forget(self, mapped: Sequence[tuple[int, int]], intervals: list[Interval]) -> None:
        """Have what lies in no mapping any more given back when its cycle was closed.

        When it really was, nobody knows: the backend's own close is the last moment in time.
        """
        starts = [start for start, _ in mapped]
        ends = {
            interval.cycle: number
            for number, interval in enumerate(intervals)
            if interval.kind == "close"
        }
        for address, (born, key, size) in list(self._live.items()):
            place = bisect_right(starts, address) - 1
            if place >= 0 and address < mapped[place][1]:
                continue
            del self._live[address]
            close = ends.get(intervals[born].cycle, born) if 0 <= born < len(intervals) else born
            if born < close:  # what was born later was not there at the end of any interval
                self._spans[key, size, born, close] += 1

    def all_spans(self) -> Iterator[tuple[int, int, int, int, int]]:
        """(key, size, born, died, count) of what outlived its interval, survivors included.

        What was born in an interval that never ended is left out.
        """
        survivors = Counter(
            (key, size, born, END) for born, key, size in self._live.values() if born < self.now
        )
        for span, count in chain(self._spans.items(), survivors.items()):
            yield *span, count

    def timeline(self, intervals: list[Interval], sites: list[Site]) -> Timeline:
        """What was read, with these sites for the keys."""
        births = [_by_site(births, sites) for births in self.births[: len(intervals)]]
        for in_interval, allocations in zip(births, self.allocations, strict=False):
            # Whatever no rule of ownership names is somebody's all the same: nothing is dropped.
            assert sum(born.count for born in in_interval.values()) == allocations
        return Timeline(
            intervals=intervals,
            births=births,
            spans=[Span(sites[key], *span) for key, *span in self.all_spans()],
            cycles=intervals[-1].cycle if intervals else 0,
            events=self.events,
            mapped=self.mapped,
            natives={line: tuple(ways) for line, ways in self.natives.items()},
        )

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
        # A block of a free list of numpy's is not what it seems to be.
        steps = {n for n, interval in enumerate(intervals) if interval.kind == "step"}
        asked.update(
            key for key, size, born, *_ in self.all_spans() if size <= LARGEST and born in steps
        )
        return self.named(asked | self.arenas)

    def named(self, keys: Iterable[int]) -> list[Site]:
        """The site of each key, for these keys with the owner that native symbols tell."""
        sites = list(self.sites)
        for key in sorted(keys):
            site = sites[key]
            if site.owner == SOURCE:
                # The dimensions of a frame are those of any array that comes when it has gone.
                # Frames that are kept show by their pixels.
                symbols = [name for name, _, _ in self._samples[key].native_stack_trace()]
                whose = HARNESS if is_for_dimensions(symbols) else SOURCE
                sites[key] = replace(site, owner=whose, listed=is_listed(symbols))
            elif _may_be_others(site) or (key in self.arenas and site.owner == MODEL):
                stack = self._samples[key].native_stack_trace()
                owner = owner_by_symbols(stack)
                if is_listed(function for function, _, _ in stack):
                    site = sites[key] = replace(site, listed=True)
                if owner is not None:
                    sites[key] = replace(site, owner=owner)
                elif through := native.path(stack):
                    self.natives.setdefault((site.file, site.line), {})[through] = None
        return sites


def _may_be_arena(record: Record) -> bool:
    """Whether this may be pymalloc taking memory for small objects: their native symbols tell."""
    return bool(record.allocator == MMAP and record.size == _ARENA)


def _may_be_others(site: Site) -> bool:
    """Whether native symbols may name another owner than the lines of Python do."""
    return site.owner not in OWN and site.owner != MODEL
