"""teardown-release: what a cycle allocated is gone when its backend is closed and dropped.

What the first cycle leaves behind is first use: it is reported, not held against the backend. What
a cycle between the first and the last leaves, and what then is still there at the end, is a leak.
What only the last cycle leaves may be a slot that every cycle overwrites, so that it counts only if
more is alive after the last cycle than after the one before. Nor does a block count of a size of
which there are no more than before: it was handed on by some free list, not added.
"""

from __future__ import annotations

from collections import defaultdict

from harness.contract import Contract
from harness.owners import INTERPRETER, SOURCE, Site
from harness.result import RuleResult, Survivors
from harness.rules.evidence import Evidence, Line, Meaning
from harness.timeline import Span, Timeline

ID = "teardown-release"
CYCLES_NEEDED = 3


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: bytes that the cycles after the first left behind."""
    if timeline.cycles < CYCLES_NEEDED:
        why = f"it takes {CYCLES_NEEDED} cycles to tell a leak from first use"
        return RuleResult(ID, "skipped", 0, 0, why)
    last = timeline.cycles
    ends = [n for n, interval in enumerate(timeline.intervals) if interval.kind == "close"]
    evidence = Evidence(timeline)
    for site, spans in _survivors_by_site(timeline).items():
        live = timeline.live(site.owner)
        leaked = [s for s in spans if 1 < timeline.cycle_of(s.born) < last]
        if leaked or live[ends[-1]] > live[ends[-2]]:
            leaked += [s for s in spans if timeline.cycle_of(s.born) == last]
        for span in leaked:
            blocks = timeline.live_blocks(span.size)
            added = blocks[ends[-1]] - blocks[ends[0]]
            if added > span.site.room(span.size):
                evidence.add(span.site, span.born, span.count, span.bytes)
    return RuleResult(
        ID,
        "fail" if evidence.count else "pass",
        evidence.bytes,
        0,
        f"bytes that cycles 2 to {last} left behind",
        evidence.findings(_meaning),
    )


def _meaning(line: Line) -> Meaning:
    if line.site.owner == SOURCE:
        return "input-kept", "input frames that something keeps after close(): a leak per cycle"
    return "leak-per-cycle", "still alive after close() and the last reference: a leak per cycle"


def first_use(timeline: Timeline) -> tuple[Survivors, ...]:
    """What the first cycle left behind, by line of code, most bytes first."""
    lines: dict[tuple[str, str, int, str], list[int]] = defaultdict(lambda: [0, 0])
    for span in timeline.survivors():
        if timeline.cycle_of(span.born) == 1:
            site = span.site
            total = lines[site.owner, site.file, site.line, site.function]
            total[0] += span.count
            total[1] += span.bytes
    return tuple(
        Survivors(*line, count, size)
        for line, (count, size) in sorted(lines.items(), key=lambda item: -item[1][1])
    )


def _survivors_by_site(timeline: Timeline) -> dict[Site, list[Span]]:
    by_site: dict[Site, list[Span]] = defaultdict(list)
    for span in timeline.survivors():
        # pymalloc keeps an arena as long as any small object of anybody lives in it.
        if span.site.owner != INTERPRETER:
            by_site[span.site].append(span)
    return by_site
