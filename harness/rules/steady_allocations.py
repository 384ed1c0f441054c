"""steady-allocations: on a steady step, nobody whom the level counts allocates anything."""

from __future__ import annotations

from harness.contract import Contract
from harness.lacking import passed_on
from harness.result import RuleResult
from harness.rules.evidence import Evidence, Line, Meaning
from harness.timeline import Span, Timeline
from harness.words import plural

ID = "steady-allocations"


def check(timeline: Timeline, contract: Contract) -> RuleResult:
    """Measured: allocations on all steady steps together."""
    if contract.level == "zero-growth":
        why = "level zero-growth allows allocations on steady steps if they are given back"
        return RuleResult(ID, "skipped", 0, 0, why)
    steady = [n for n in timeline.steps if timeline.intervals[n].is_steady]
    if not steady:
        why = "the workload has no steady step: every frame is within a warm-up"
        return RuleResult(ID, "skipped", 0, 0, why)
    evidence = Evidence(timeline)
    for number in steady:
        sites = [site for site in timeline.births[number] if contract.counts(site.owner)]
        elsewhere = passed_on(timeline, number, sites)
        for site in sites:
            if site not in elsewhere:
                births = timeline.births[number][site]
                evidence.add(site, number, births.count, births.bytes)
    return RuleResult(
        ID,
        "fail" if evidence.count else "pass",
        evidence.count,
        0,
        f"allocations on {plural(len(steady), 'steady step')}",
        evidence.findings(lambda line: _fate(timeline, line)),
    )


def _fate(timeline: Timeline, line: Line) -> Meaning:
    """What became of these blocks."""
    outlived = [span for birth in line.births for span in timeline.outlived.get(birth, ())]
    kept = [span for span in outlived if span.died >= timeline.end_of_cycle(span.born)]
    # What is replaced on every step leaves the last one behind, and is not kept for that.
    if kept and 2 * sum(span.count for span in kept) >= line.count:
        cycles = {timeline.cycle_of(interval) for interval in line.intervals}
        if len(line.intervals) <= len(cycles):
            return "late", "made once in a cycle, after the warm-up, and kept until close"
        return "kept", "and still there when the backend was closed: it keeps something per frame"
    since = _buffer_since(timeline, line) + _but_kept(timeline, kept)
    replaced = [span.died - span.born for span in outlived if span not in kept]
    if not replaced:
        return "churn", f"freed in the same step: churn{since}"
    words = (
        f"freed {plural(max(replaced), 'step')} later at most: made anew instead of reused{since}"
    )
    return "turnover", words


def _but_kept(timeline: Timeline, kept: list[Span]) -> str:
    """Of a line most of whose blocks are freed: those that aren't, from step to step."""
    steps = {span.born for span in kept}
    if len(steps) == len({timeline.cycle_of(step) for step in steps}):
        return ""
    count, size = sum(span.count for span in kept), sum(span.bytes for span in kept)
    return f"; {count:,} of them, {size:,} bytes, are kept until the backend is closed"


def _buffer_since(timeline: Timeline, line: Line) -> str:
    """For a buffer: the record step before, since when it has been large enough."""
    site, first = line.births[0]
    if not timeline.births[first][site].buffers:
        return ""
    for number in range(first, -1, -1):
        step = timeline.intervals[number].step
        if step is not None and step.phase == "record":
            return f"; a buffer made on step {step.index} would have been large enough"
    return ""
