"""steady-growth: live bytes do not go on rising, over steady steps or over changes of resolution.

What a backend holds may swing, with a batch that fills or two buffers that take turns. So a curve
of live bytes is cut in two, and the high-water mark of its second half is held against that of its
first: a swing reaches the same height in both, a leak does not.
"""

from __future__ import annotations

from harness.contract import Contract
from harness.owners import SOURCE
from harness.result import RuleResult
from harness.rules import growth
from harness.rules.evidence import Evidence, Line, Meaning
from harness.timeline import Timeline
from harness.words import plural

ID = "steady-growth"


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: bytes added where live memory rose, and alive when the stretch or cycle ended."""
    stretches = list(growth.stretches(timeline))
    if not stretches and not growth.can_judge_changes(timeline):
        why = "the workload has no steady step: every frame is within a warm-up"
        return RuleResult(ID, "skipped", 0, 0, why)
    on_frames, on_changes = Evidence(timeline), Evidence(timeline)
    for stretch in stretches:
        for span in growth.over_frames(timeline, stretch):
            on_frames.add(span.site, span.born, span.count, span.bytes)
    for span in growth.over_changes(timeline, timeline.cycles):
        on_changes.add(span.site, span.born, span.count, span.bytes)
    added = on_frames.bytes + on_changes.bytes
    why = f"bytes added to live memory over {plural(len(stretches), 'stretch')} of steady steps"
    if growth.can_judge_changes(timeline):
        why += ", and over changes of resolution"
    elif changes := growth.unjudged_changes(timeline):
        why += f"; {changes}"
    return RuleResult(
        ID,
        "fail" if added else "pass",
        added,
        0,
        why,
        (
            *on_frames.findings(_per_frame),
            *on_changes.findings(lambda line: _per_change(timeline, line)),
        ),
    )


def notes(timeline: Timeline) -> tuple[str, ...]:
    """What grew over the resolutions of the first cycle, and not over the same ones in the last."""
    if not growth.can_judge_changes(timeline) or list(
        growth.over_changes(timeline, timeline.cycles)
    ):
        return ()
    kept: dict[str, int] = {}
    for span in growth.over_changes(timeline, 1):
        kept[span.site.owner] = kept.get(span.site.owner, 0) + span.bytes
    return tuple(
        f"{owner}: {size:,} bytes were kept over the resolutions of the first cycle and nothing "
        "over the same ones in the last: a cache of the process, bounded for this workload"
        for owner, size in sorted(kept.items())
    )


def _per_frame(line: Line) -> Meaning:
    if line.site.owner == SOURCE:
        return "input-kept", "input frames that the backend keeps: it grows with the frames"
    return "leak-per-frame", "still alive when the steady steps ended: it grows with the frames"


def _per_change(timeline: Timeline, line: Line) -> Meaning:
    if any(growth.is_revisit(timeline, interval) for interval in line.intervals):
        words = "still alive at the cycle's end: it grows with every change of resolution"
        return "leak-per-resolution-change", words
    words = "still alive at the cycle's end, and nothing was given up for it: a cache without bound"
    return "unbounded-cache", words
