"""From growth that screening saw to the line that causes it: more runs of the same workload.

A run that is narrowed to the part where it grows is put under a tracer: for Python blocks one that
sees every object; for heap bytes the ordinary one, and if that does not see what grows, one that
reads the heap at each line. A site is named only if what it keeps rises at the same points as the
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import msgspec

from harness.isolate import Ended
from harness.owners import BACKEND, HARNESS, INTERPRETER, Owners, Site
from harness.plan import PlannedStep
from harness.probes import trace
from harness.reading import build
from harness.result import Finding, RuleResult
from harness.rising import rising_sites
from harness.screening import LEAST_CHUNK, Field, Growth, Pattern, find, read, rises_at_last
from harness.spec import LINES, TRACE, LineGrowth, Outcome, RunSpec
from harness.timeline import Interval, Timeline
from harness.unseen import accounted, blame, requested

Run = Callable[[RunSpec], AbstractContextManager[Ended]]
"""Runs a child; its folder is there while the context is open."""
Plan = Callable[[Outcome], Sequence[PlannedStep]]
"""harness.contract.Contract.steps"""

MANY_CYCLES = 12
MANY_TIMES = 8
_OBJECT_EXEMPT = frozenset({HARNESS})
_HEAP_EXEMPT = frozenset({HARNESS, INTERPRETER})
_KINDS: dict[Pattern, str] = {
    "frame": "leak-per-frame",
    "change": "leak-per-resolution-change",
    "cycle": "leak-per-cycle",
}
_IN_BYTES: frozenset[Field] = frozenset({"cuda_bytes", "pinned_bytes"})
_NOUNS: dict[Field, str] = {
    "heap_bytes": "bytes of heap",
    "python_blocks": "small Python objects",
    "threads": "threads",
    "descriptors": "descriptors",
    "cuda_bytes": "bytes of GPU memory",
    "pinned_bytes": "bytes of pinned host memory",
    "virtual_pages": "pages of mapped memory",
}
_REPEATS: dict[Pattern, str] = {
    "frame": "with the frames",
    "change": "from one visit to a resolution to the next",
    "cycle": "with each cycle of open and close",
}


@dataclass(frozen=True, slots=True)
class Named:
    """Growth and what causes it."""

    growth: Growth
    findings: tuple[Finding, ...]
    unconfirmed: str = ""
    """why it is held against nobody, where it is not: no findings then"""
    failure: str = ""
    """why the run that was to name the site came to no end, if it didn't"""

    @property
    def doubt(self) -> str:
        """What a reader should know of growth that is held against nobody; empty if there is none
        such."""
        if not self.unconfirmed:
            return ""
        growth = self.growth
        what = f"{growth.amount:,} {_NOUNS[growth.field]} more {_REPEATS[growth.pattern]}"
        return f"{what} are no finding: {self.unconfirmed}"


class Namer:
    """Names what grows. Each growth takes one or two more runs of the workload."""

    def __init__(
        self,
        spec: RunSpec,
        intervals: Sequence[Interval],
        owners: Sequence[tuple[str, str]],
        run: Run,
        plan: Plan | None = None,
    ) -> None:
        """`spec` is that of the screening run, `intervals` those of harness.timeline.layout.

        `plan` gives the steps of a run of the same workload, gone through several times. It is
        needed where a backend has threads: what these keep may follow the clock, not the frames.
        """
        self._spec = spec
        self._intervals = intervals
        self._owners = owners
        self._run = run
        self._plan = plan

    def name(self, growth: Growth, timeline: Timeline | None = None) -> Named:
        """Name one growth. A timeline of the whole run, if there is one, saves a run.

        Growth of the heap that this timeline accounts for is another rule's to report: there are
        no findings then.
        """
        if growth.field == "python_blocks":
            return self._passing(growth) or self._objects(growth)
        if growth.field == "heap_bytes":
            return self._heap(growth, timeline)
        return self._counted(growth)

    def _passing(self, growth: Growth) -> Named | None:
        """Growth that more of the same does not go on with."""
        if growth.pattern == "cycle" and not self._goes_on_over_cycles(growth):
            return Named(growth, (), f"over {MANY_CYCLES} cycles it did not go on")
        if growth.pattern == "frame" and self._plan and not self._goes_on_with_frames(growth):
            return Named(growth, (), f"over {MANY_TIMES} times as many frames it did not go on")
        return None

    def _counted(self, growth: Growth) -> Named:
        """What has a number and no line."""
        noun = _NOUNS[growth.field]
        in_bytes = growth.field in _IN_BYTES
        if growth.amount == 1 and not in_bytes:
            noun = noun.removesuffix("s")
        text = f"{growth.amount:,} {noun} more: their number grows {_REPEATS[growth.pattern]}"
        count = len(growth.rises) if in_bytes else growth.amount
        size = growth.amount if in_bytes else 0
        return Named(growth, (self._finding(growth, _nowhere(), count, size, text),))

    def _objects(self, growth: Growth) -> Named:
        with self._run(self._narrowed("objects", growth)) as ended:
            timeline = self._read(ended, growth, objects=True)
        if timeline is None:
            return self._unnamed(growth, "Python objects", ended)
        meaning = f"a Python object that is kept: they grow {_REPEATS[growth.pattern]}"
        findings = rising_sites(
            timeline, self._points(growth), _OBJECT_EXEMPT, _KINDS[growth.pattern], meaning
        )
        return Named(growth, findings, "" if findings else "no object that is kept explains them")

    def _heap(self, growth: Growth, timeline: Timeline | None) -> Named:
        findings: tuple[Finding, ...] = ()
        points: Sequence[int] = growth.points
        if timeline is not None and self._is_explained(growth, timeline, points):
            return Named(growth, ())
        if growth.pattern == "cycle" and (passing := self._passing(growth)):
            return passing
        if timeline is None:
            with self._run(self._narrowed("narrow", growth)) as ended:
                timeline = self._read(ended, growth, objects=False)
            if timeline is None:
                return self._unnamed(growth, "native memory", ended)
            points = self._points(growth)
            meaning = f"still alive: it grows {_REPEATS[growth.pattern]}"
            findings = rising_sites(timeline, points, _HEAP_EXEMPT, _KINDS[growth.pattern], meaning)
            if self._is_explained(growth, timeline, points):
                return Named(growth, findings)
        with self._run(self._narrowed("lines", growth)) as ended:
            path = ended.folder / LINES
            if not path.exists():
                return self._unnamed(growth, "native memory that the tracer does not see", ended)
            lines = msgspec.json.decode(path.read_bytes(), type=list[LineGrowth])
        return Named(growth, (*findings, *self._unseen(growth, lines, timeline, points)))

    def _is_explained(self, growth: Growth, timeline: Timeline, points: Sequence[int]) -> bool:
        """Whether what the tracer has seen takes up all that the heap grew by."""
        return growth.amount - accounted(timeline, points[0], points[-1]) < LEAST_CHUNK

    def _goes_on_with_frames(self, growth: Growth) -> bool:
        """Whether it grows with many times as many frames as it did with a few.

        A bounded buffer that a thread fills by the clock does not.
        """
        assert self._plan is not None
        frames = MANY_TIMES * (1 + max(i.step.last for i in self._intervals if i.step is not None))
        spec = msgspec.structs.replace(self._spec, cycles=1, least_frames=frames, digests=False)
        with self._run(spec) as ended:
            if ended.failure is not None or ended.outcome is None:
                return True  # more frames than it survives: what was seen stands
            longer = read(ended.folder, self._plan(ended.outcome), 1)
        return rises_at_last(longer, growth.field)

    def _goes_on_over_cycles(self, growth: Growth) -> bool:
        """Whether the heap grows over many cycles as it did over a few.

        A thread's tables get blocks with rests of up to 16 bytes, or without, and come from the
        arena that happens to be free: that adds up to 32 bytes a cycle for a few cycles (reference
        backend, async), and to about 100 in all. A leak adds its 32 bytes in each cycle.
        """
        steps = [i.step for i in self._intervals if i.cycle == 1 and i.step is not None]
        with self._run(msgspec.structs.replace(self._spec, cycles=MANY_CYCLES)) as ended:
            if ended.failure is not None:
                return True  # more cycles than it survives: what was seen stands
            longer = read(ended.folder, steps, MANY_CYCLES)
        return any((g.field, g.pattern) == (growth.field, growth.pattern) for g in find(longer))

    def _unseen(
        self, growth: Growth, lines: list[LineGrowth], timeline: Timeline, points: Sequence[int]
    ) -> Iterator[Finding]:
        what = "native memory that the tracer does not see"
        grows = f"it grows {_REPEATS[growth.pattern]}"
        seen = requested(timeline, points[0] + 1, points[-1])
        blamed, certain = blame(lines, seen, len(growth.rises))
        for line in blamed:
            site = Site(
                BACKEND,
                line.file,
                line.line,
                line.function,
                ((line.function, line.file, line.line),),
            )
            doubt = "" if certain else " (this line or another one that allocates)"
            text = f"{line.bytes:,} bytes of {what} at {site.where}{doubt}: {grows}"
            yield self._finding(growth, site, len(growth.rises), line.bytes, text)
        if not blamed:
            text = f"{growth.amount:,} bytes of {what}, at no line of the backend's: {grows}"
            yield self._finding(growth, _nowhere(), len(growth.rises), growth.amount, text)

    def _unnamed(self, growth: Growth, what: str, ended: Ended) -> Named:
        why = ended.failure.text if ended.failure else "the run that looked for it saw nothing"
        size = growth.amount if growth.field == "heap_bytes" else 0
        text = f"{growth.amount:,} of {what}: it grows {_REPEATS[growth.pattern]}; not named: {why}"
        finding = self._finding(growth, _nowhere(), len(growth.rises), size, text)
        return Named(growth, (finding,), failure=why)

    def _narrowed(self, instrument: str, growth: Growth) -> RunSpec:
        return msgspec.structs.replace(
            self._spec, instrument=instrument, window=growth.window, digests=False
        )

    def _points(self, growth: Growth) -> list[int]:
        """The points as numbers of the window's intervals; the first lies before them all: -1."""
        return [point - growth.window[0] for point in growth.points]

    def _read(self, ended: Ended, growth: Growth, *, objects: bool) -> Timeline | None:
        """The timeline of the window; None if it is not complete."""
        path, outcome = ended.folder / TRACE, ended.outcome
        if outcome is None or not path.exists():
            return None
        first, last = growth.window
        intervals = list(self._intervals[first : last + 1])
        records = trace.read_objects(path) if objects else trace.read(path)
        owners = Owners(self._owners, outcome.target_root)
        timeline = build(records, intervals, owners)
        return timeline if len(timeline.intervals) == len(intervals) else None

    def _finding(self, growth: Growth, site: Site, count: int, size: int, text: str) -> Finding:
        steps = [step for n in growth.rises if (step := self._intervals[n].step)]
        frames = {frame for step in steps for frame in range(step.first, step.last + 1)}
        return Finding(
            owner=site.owner,
            file=site.file,
            line=site.line,
            function=site.function,
            frames=tuple(sorted(frames)) if growth.pattern != "cycle" else (),
            count=count,
            bytes=size,
            cycle=growth.cycle,
            stack=site.stack,
            kind=_KINDS[growth.pattern],
            text=text,
        )


def _nowhere() -> Site:
    return Site(BACKEND, "", 0, "", ())


def growth_result(rule: str, named: Iterable[Named], why: str) -> RuleResult:
    """What a rule says that has nothing but screening to go by. Measured: bytes."""
    findings = tuple(finding for one in named for finding in one.findings)
    return RuleResult(
        rule,
        "fail" if findings else "pass",
        sum(finding.bytes for finding in findings),
        0,
        why,
        findings,
    )


def merged(result: RuleResult, named: Iterable[Named], patterns: Container[Pattern]) -> RuleResult:
    """A rule's result with what screening has found besides.

    `patterns` are those that the rule judges: "frame" and "change" for steady-growth, "cycle" for
    teardown-release. A line that the rule itself has found is not added a second time, nor are
    threads and descriptors to teardown-release: teardown-resources judges these.
    """
    known = {(finding.file, finding.line) for finding in result.findings if finding.line}
    added = tuple(
        finding
        for one in named
        if one.growth.pattern in patterns
        and not (one.growth.pattern == "cycle" and one.growth.field in ("threads", "descriptors"))
        for finding in one.findings
        if (finding.file, finding.line) not in known
    )
    if not added:
        return result
    return msgspec.structs.replace(
        result,
        status="fail",
        measured=result.measured + sum(finding.bytes for finding in added),
        findings=(*result.findings, *added),
    )
