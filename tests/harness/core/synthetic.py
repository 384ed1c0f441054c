"""Traces and timelines made by hand, so that each test knows every number in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.owners import Owners, Site
from harness.plan import PlannedStep
from harness.probes import trace
from harness.reading import build
from harness.timeline import END, Births, Interval, Span, Timeline

MALLOC, FREE, MMAP, MUNMAP = 1 + 5, 5, 14, 15
PAGE = 4096


@dataclass
class FakeRecord:
    """One record as memray gives it."""

    allocator: int
    address: int
    size: int = 0
    stack: Sequence[tuple[str, str, int]] = (("work", "/user/backend.py", 7),)
    native: Sequence[str] = ()
    asked: list[str] = field(default_factory=list)

    @property
    def stack_id(self) -> int:
        return hash(tuple(self.stack))

    @property
    def native_stack_id(self) -> int:
        return hash(tuple(self.native))

    def stack_trace(self, max_stacks: int | None = None) -> list[tuple[str, str, int]]:
        if self.allocator in (FREE, MUNMAP):
            raise NotImplementedError
        return list(self.stack)[:max_stacks]

    def native_stack_trace(self, max_stacks: int | None = None) -> list[tuple[str, str, int]]:
        self.asked.append("native")
        return [(symbol, "lib.so", 0) for symbol in self.native][:max_stacks]


def malloc(address: int, size: int, line: int = 7, **more: Any) -> FakeRecord:
    return FakeRecord(MALLOC, address, size, (("work", "/user/backend.py", line),), **more)


def free(address: int) -> FakeRecord:
    return FakeRecord(FREE, address)


def mmap(address: int, size: int) -> FakeRecord:
    return FakeRecord(MMAP, address, size)


def munmap(address: int, size: int) -> FakeRecord:
    return FakeRecord(MUNMAP, address, size)


def mark() -> FakeRecord:
    """A mark, and the end of its memory."""
    return FakeRecord(MALLOC, 1, trace.MARK_SIZE, (("mark", trace.__file__, 30),))


def step(index: int, phase: str = "steady") -> PlannedStep:
    return PlannedStep(index, index, index, 64, 48, phase)  # type: ignore[arg-type]


def intervals(steps: int, cycles: int = 1, phases: str = "") -> list[Interval]:
    """Open, steps, flush and close of each cycle; `phases` has one letter a step: r, w or s."""
    names = {"r": "record", "w": "warm-up", "s": "steady"}
    planned = [step(n, names[(phases or "s" * steps)[n]]) for n in range(steps)]
    return [
        interval
        for cycle in range(1, cycles + 1)
        for interval in (
            Interval("open", cycle),
            *(Interval("step", cycle, each) for each in planned),
            Interval("flush", cycle),
            Interval("close", cycle),
        )
    ]


def read(groups: Sequence[Iterable[FakeRecord]], of: list[Interval] | None = None) -> Timeline:
    """The timeline of records that came in these intervals; before them comes the first mark."""
    records = [mark()]
    for group in groups:
        records += [*group, mark()]
    layout = of if of is not None else intervals(len(groups) - 3)
    return build(iter(records), layout, Owners())  # type: ignore[arg-type]


def site(owner: str = "backend", line: int = 7, *, listed: bool = False) -> Site:
    stack = (("work", "/user/backend.py", line),)
    return Site(owner, "/user/backend.py", line, "work", stack, listed)


class Made:
    """A timeline put together block by block."""

    def __init__(self, steps: int, cycles: int = 1, phases: str = "") -> None:
        self.intervals = intervals(steps, cycles, phases)
        self._births: list[dict[Site, Births]] = [{} for _ in self.intervals]
        self._spans: Counter[tuple[Site, int, int, int]] = Counter()

    def number(self, kind: str, cycle: int = 1, index: int = 0) -> int:
        """Number of an interval."""
        return next(
            n
            for n, interval in enumerate(self.intervals)
            if interval.kind == kind
            and interval.cycle == cycle
            and (interval.step is None or interval.step.index == index)
        )

    def block(
        self,
        born: int,
        died: int = END,
        size: int = 100,
        owner: str = "backend",
        line: int = 7,
        *,
        listed: bool = False,
    ) -> None:
        """A block that is born in an interval, and dies in the same or another."""
        where = site(owner, line, listed=listed)
        births = self._births[born].setdefault(where, Births())
        births.count += 1
        births.bytes += size
        if size >= PAGE:
            births.buffers += 1
            births.buffer_bytes += size
        if died != born:
            self._spans[where, size, born, died] += 1

    def timeline(self, resources: Sequence[dict[str, object]] = ()) -> Timeline:
        return Timeline(
            intervals=self.intervals,
            births=self._births,
            spans=[Span(*span, count) for span, count in self._spans.items()],
            cycles=self.intervals[-1].cycle,
            resources=resources,
        )
