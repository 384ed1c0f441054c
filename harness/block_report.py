"""From the trace of a block in this process to its report."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from harness import environment, preconditions
from harness.block_session import OUTERMOST, Region
from harness.contract import Contract
from harness.owners import INTERPRETER, OWN, Owners, Site
from harness.plan import PlannedStep
from harness.probes import trace
from harness.reading import build
from harness.request import SCHEMA
from harness.result import Cost, Failure, Finding, Report, RuleResult, StackFrame, Teardown
from harness.rules import steady_allocations, teardown_release
from harness.rules.evidence import amount
from harness.timeline import END, Interval, Span, Timeline

_FATES = {
    "churn": "freed within the block: churn",
    "kept": "and still there at the end of the block",
    "late-release": "freed only after the end of the block",
    "delayed-release": "freed by the garbage collector alone: part of a reference cycle",
    "leak": "still there when the outermost block ended",
}
"""kinds of finding, and the words that end its sentence"""


def judge(path: Path, region: Region, collection: int) -> Report:
    """Hold a block to what was asked. `collection` is the number of the trace's last interval."""
    started = time.monotonic()
    asked = region.asked
    function, file, line = asked.at
    report = Report(
        schema=SCHEMA,
        verdict="no-verdict",
        level=asked.level,
        target=f"{file}:{line} in {function}",
        workload="",
        seed=0,
        rules=(),
        steps=(),
        teardown=Teardown({}, {}),
        cost=Cost(0, 0),
        environment=environment.describe(),
        replay=f"run {file}:{line} again",
        cycles=1,
        notes=tuple(preconditions.notes()),
    )
    if region.busy:
        report.failure = Failure("not-quiescent", "measure", 0, -1, region.busy)
        return report
    intervals = [Interval("step", 1, _step(number)) for number in range(collection)]
    evidence = _Evidence(region, collection - 1)
    timeline = build(
        trace.read(path), intervals, Owners(asked.owners), lambda seen: bool(evidence.lines(seen))
    )
    if len(timeline.intervals) < collection:
        why = "the trace of allocations broke off, as it does when descriptors of others are closed"
        report.failure = Failure("unmeasurable", "measure", 0, -1, why)
        return report
    report.rules = (evidence.result(timeline),)
    report.verdict = "fail" if report.rules[0].findings else "pass"
    report.cost = Cost(round(time.monotonic() - started, 3), timeline.events)
    return report


def _step(number: int) -> PlannedStep:
    return PlannedStep(number, number, number, 0, 0, "steady")


class _Evidence:
    """What speaks against one block."""

    def __init__(self, region: Region, collection: int) -> None:
        self._region = region
        self._collection = collection
        self._contract = Contract(region.asked.level)

    def result(self, timeline: Timeline) -> RuleResult:
        """The rule that the block stands for."""
        lines = self.lines(timeline)
        findings = tuple(
            self._finding(site, kind, count, size)
            for (site, kind), (count, size) in sorted(lines.items(), key=lambda line: -line[1][1])
        )
        counts = self._region.asked.kind == "no_allocations"
        return RuleResult(
            rule=steady_allocations.ID if counts else teardown_release.ID,
            status="fail" if findings else "pass",
            measured=sum(found.count if counts else found.bytes for found in findings),
            limit=0,
            why="allocations in the block" if counts else "bytes that the block left behind",
            findings=findings,
        )

    def lines(self, timeline: Timeline) -> dict[tuple[Site, str], tuple[int, int]]:
        """Blocks and bytes by line of code (the first site that was seen of it) and kind."""
        counted = self._counted if self._region.asked.kind == "no_allocations" else self._left
        first: dict[tuple[str, str, int, str, str], Site] = {}
        lines: dict[tuple[Site, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for site, kind, count, size in counted(timeline):
            at = first.setdefault((site.owner, site.file, site.line, site.function, kind), site)
            blocks, total = lines[at, kind]
            lines[at, kind] = blocks + count, total + size
        return lines

    def _within(self) -> range:
        return range(self._region.first, self._region.end)

    def _counted(self, timeline: Timeline) -> Iterator[tuple[Site, str, int, int]]:
        """What was allocated in the block: what is left of it, and the rest, which was freed."""
        kept: dict[Site, list[Span]] = defaultdict(list)
        for span in timeline.spans:
            if span.born in self._within() and span.died >= self._region.end:
                kept[span.site].append(span)
        for site in dict.fromkeys(s for n in self._within() for s in timeline.births[n]):
            if not self._contract.counts(site.owner):
                continue
            births = [
                timeline.births[n][site] for n in self._within() if site in timeline.births[n]
            ]
            left = sum(span.count for span in kept[site])
            size = sum(span.bytes for span in kept[site])
            if left:
                yield site, "kept", left, size
            if freed := sum(born.count for born in births) - left:
                yield site, "churn", freed, sum(born.bytes for born in births) - size

    def _left(self, timeline: Timeline) -> Iterator[tuple[Site, str, int, int]]:
        """What was allocated in the block and not freed in it.

        A block of a size of which there are no more than before was handed on by a free list.
        """
        before, after = self._region.first - 1, self._region.end - 1
        for span in timeline.spans:
            if span.born not in self._within() or span.died < self._region.end:
                continue
            alive = timeline.live_blocks(span.size)
            added = alive[after] - alive[before]
            if span.site.owner in (*OWN, INTERPRETER) or added <= self._in_lists(span):
                continue
            # Not all of the line's: those of the others lie in a list, whichever they are.
            count = min(span.count, added)
            yield span.site, self._fate(span), count, count * span.size

    def _in_lists(self, span: Span) -> int:
        """How many more of such blocks the lists of numpy may have at the end than before.

        They are full when the outermost block begins. What lies in one begins with what the arrays
        around it have left there; what it keeps for good, the outermost one tells.
        """
        if self._region.first == OUTERMOST:
            return 0
        return span.site.room(span.size)

    def _fate(self, span: Span) -> str:
        if span.died == END:
            return "leak"
        return "delayed-release" if span.died == self._collection else "late-release"

    def _finding(self, site: Site, kind: str, count: int, size: int) -> Finding:
        return Finding(
            owner=site.owner,
            file=site.file,
            line=site.line,
            function=site.function,
            frames=(),
            count=count,
            bytes=size,
            cycle=0,
            stack=_inner(site.stack, self._region.asked.at),
            kind=kind,
            text=f"{amount(count, size)} at {site.where}, {_FATES[kind]}",
        )


def _inner(stack: tuple[StackFrame, ...], at: StackFrame) -> tuple[StackFrame, ...]:
    """A stack from the function inwards that the block stands in: who called that is no matter."""
    depths = [depth for depth, frame in enumerate(stack) if frame[:2] == at[:2]]
    return stack[: depths[-1] + 1] if depths else stack
