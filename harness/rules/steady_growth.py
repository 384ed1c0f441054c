"""steady-growth: over a stretch of steady steps, live bytes do not go on rising.

What a backend holds may swing, with a batch that fills or two buffers that take turns. So a stretch
is cut in two, and the high-water mark of its second half is held against that of its first: a
swing reaches the same height in both, a leak does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate

from harness.contract import Contract
from harness.owners import HARNESS, INTERPRETER, Site
from harness.result import RuleResult
from harness.rules.evidence import Evidence
from harness.timeline import Span, Timeline

ID = "steady-growth"
_EXEMPT = frozenset(
    {
        HARNESS,
        # pymalloc's arenas hold small objects of anybody, and come a mebibyte at a time
        INTERPRETER,
    }
)


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: bytes born in stretches over which live memory rose, and alive at their ends."""
    stretches = list(_stretches(timeline))
    if not stretches:
        why = "the workload has no steady step: every frame is within a warm-up"
        return RuleResult(ID, "skipped", 0, 0, why)
    evidence = Evidence(timeline)
    by_owner: dict[str, list[Span]] = defaultdict(list)
    for span in timeline.spans:
        by_owner[span.site.owner].append(span)
    for stretch in stretches:
        for owner in by_owner.keys() - _EXEMPT:
            if _rise(timeline.live(owner)[stretch.start - 1 : stretch.stop]):
                for span in _to_blame(timeline, by_owner[owner], stretch):
                    evidence.add(span.site, span.born, span.count, span.bytes)
    return RuleResult(
        ID,
        "fail" if evidence.bytes else "pass",
        evidence.bytes,
        0,
        f"bytes added to live memory over {len(stretches):,} stretches of steady steps",
        evidence.findings("still alive when the steady steps ended: it grows with the frames"),
    )


def _stretches(timeline: Timeline) -> Iterator[range]:
    """Runs of consecutive steady intervals."""
    start = None
    for number, interval in enumerate([*timeline.intervals, None]):
        steady = interval is not None and interval.step and interval.step.phase == "steady"
        if steady and start is None:
            start = number
        elif not steady and start is not None:
            yield range(start, number)
            start = None


def _rise(boundaries: list[int]) -> int:
    """How far the second half of these live bytes rises above the first."""
    middle = (len(boundaries) - 1) // 2 + 1
    return max(0, max(boundaries[middle:]) - max(boundaries[:middle]))


def _to_blame(timeline: Timeline, spans: list[Span], stretch: range) -> Iterator[Span]:
    """What rose: of the sites whose own live bytes rose, what was born here and outlived it.

    Blocks of a size of which there are no more than before were handed on, not added.
    """
    inside: dict[Site, list[Span]] = defaultdict(list)
    for span in spans:
        if span.born < stretch.stop and span.died >= stretch.start:
            inside[span.site].append(span)
    for there in inside.values():
        if not _rise(_live(there, stretch)):
            continue
        added = {
            size
            for size in {span.size for span in there}
            if _rise(timeline.live_blocks(size)[stretch.start - 1 : stretch.stop])
        }
        for span in there:
            if span.size in added and span.born in stretch and span.died >= stretch.stop:
                yield span


def _live(spans: list[Span], stretch: range) -> list[int]:
    """Live bytes of these blocks where the stretch begins and at the end of each of its steps."""
    changes = [0] * (len(stretch) + 2)
    for span in spans:
        changes[max(span.born + 1 - stretch.start, 0)] += span.bytes
        changes[min(span.died, stretch.stop) + 1 - stretch.start] -= span.bytes
    return list(accumulate(changes[:-1]))
