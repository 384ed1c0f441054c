"""Where live memory goes on rising: the curves and who is to blame for them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from harness.lacking import of_lines_that_keep
from harness.owners import HARNESS, INTERPRETER, Site
from harness.plan import one_format
from harness.timeline import Span, Timeline

EXEMPT = frozenset(
    {
        HARNESS,
        # pymalloc's arenas hold small objects of anybody, and come a mebibyte at a time
        INTERPRETER,
    }
)
_HEIGHTS_NEEDED = 3
"""the one to begin with, and two rises"""
_SMALL_PART = 3
"""of the first half's rise, one part of so many: of what rises steadily the second half has half"""
_CHANGES_NEEDED = 4
"""changes of resolution without a record, for the two halves of a curve to have two points each"""


def stretches(timeline: Timeline) -> Iterator[range]:
    """Runs of consecutive steady intervals."""
    numbered = enumerate(timeline.intervals)
    for steady, run in groupby(numbered, lambda item: item[1].is_steady):
        if steady:
            numbers = [number for number, _ in run]
            yield range(numbers[0], numbers[-1] + 1)


def over_frames(timeline: Timeline, stretch: range) -> Iterator[Span]:
    """What was born in a stretch of steady steps, outlived it, and made live memory rise."""
    boundaries = range(stretch.start - 1, stretch.stop)
    yield from of_lines_that_keep(
        span
        for span in _to_blame(timeline, boundaries, frozenset())
        if span.born in stretch and span.died >= stretch.stop
    )


def over_changes(timeline: Timeline, cycle: int) -> Iterator[Span]:
    """What made live memory rise over a cycle's changes of resolution that are no record.

    Growth on a record step is what a grow-only buffer does, so segments with one are left out.
    """
    segments = _segments(timeline, cycle)
    quiet = frozenset(n for n, segment in enumerate(segments) if n and not segment.record)
    if len(quiet) < _CHANGES_NEEDED or not _is_one_stream(timeline):
        return
    boundaries = [segment.last for segment in segments]
    inside = [range(segments[n].first, segments[n].last + 1) for n in quiet]
    yield from of_lines_that_keep(
        span
        for span in _to_blame(timeline, boundaries, frozenset(range(len(segments))) - quiet)
        if span.died > boundaries[-1] and any(span.born in segment for segment in inside)
    )


def can_judge_changes(timeline: Timeline) -> bool:
    """Whether a second pass over the same resolutions shows what the first one left to a cache."""
    segments = _segments(timeline, timeline.cycles)
    enough = sum(not segment.record for segment in segments[1:]) >= _CHANGES_NEEDED
    return timeline.cycles > 1 and enough and _is_one_stream(timeline)


def unjudged_changes(timeline: Timeline) -> str:
    """What a workload with changes of resolution lacks for these to be judged; else nothing."""
    if timeline.cycles < 2 or len(_segments(timeline, timeline.cycles)) < 2:
        return ""
    if not _is_one_stream(timeline):
        return ""
    return (
        f"changes of resolution are judged from {_CHANGES_NEEDED} on that need no more than before "
        "(such as --workload oscillation)"
    )


def _is_one_stream(timeline: Timeline) -> bool:
    return one_format(i.step for i in timeline.intervals if i.step is not None)


def is_revisit(timeline: Timeline, interval: int) -> bool:
    """Whether the resolution of this interval was there in an earlier segment of its cycle."""
    earlier: set[tuple[int, int]] = set()
    for segment in _segments(timeline, timeline.cycle_of(interval)):
        if segment.first <= interval <= segment.last:
            return segment.geometry in earlier
        earlier.add(segment.geometry)
    return False


@dataclass(frozen=True, slots=True)
class _Segment:
    """A run of steps of one geometry."""

    geometry: tuple[int, int]
    first: int
    last: int
    record: bool
    """whether a step of it needs more than any before"""


def _segments(timeline: Timeline, cycle: int) -> list[_Segment]:
    steps = [
        (number, step)
        for number in timeline.steps
        if timeline.cycle_of(number) == cycle and (step := timeline.intervals[number].step)
    ]
    segments = []
    for geometry, run in groupby(steps, lambda item: (item[1].width, item[1].height)):
        members = list(run)
        record = any(step.phase == "record" for _, step in members)
        segments.append(_Segment(geometry, members[0][0], members[-1][0], record))
    return segments


def _to_blame(
    timeline: Timeline, boundaries: Sequence[int], skipped: frozenset[int]
) -> Iterator[Span]:
    """The spans of sites whose live bytes rise over these boundaries, for owners whose own do.

    `skipped` are positions among the boundaries at which a rise is no rise. Blocks of a size of
    which there are no more than before were handed on, not added.
    """
    for owner, sites in timeline.spans_by_owner.items():
        if owner in EXEMPT or not _rise(_at(timeline.live(owner), boundaries), skipped):
            continue
        for site, spans in sites.items():
            here = [s for s in spans if s.born <= boundaries[-1] and s.died > boundaries[0]]
            if not _rise(_live(here, boundaries), skipped, heights=2):
                continue
            added = {
                size
                for size in {span.size for span in here}
                if _is_added(_at(timeline.live_blocks(size), boundaries), skipped, site, size)
            }
            yield from (span for span in here if span.size in added)


def _is_added(blocks: list[int], skipped: frozenset[int], site: Site, size: int) -> bool:
    """Whether there are more blocks of a size than before: else they were handed on."""
    if not _rise(blocks, skipped, heights=2):
        return False
    return max(_levels(blocks, skipped)) > site.room(size)


def _at(curve: list[int], boundaries: Sequence[int]) -> list[int]:
    return [curve[boundary] if boundary >= 0 else 0 for boundary in boundaries]


def _live(spans: list[Span], boundaries: Sequence[int]) -> list[int]:
    changes = [0] * (len(boundaries) + 1)
    for span in spans:
        changes[bisect_left(boundaries, span.born)] += span.bytes
        changes[bisect_left(boundaries, span.died)] -= span.bytes
    return list(accumulate(changes[:-1]))


def _rise(curve: list[int], skipped: frozenset[int], heights: int = _HEIGHTS_NEEDED) -> int:
    """How far the second half of a curve rises above its first, leaving out what is skipped.

    0 if it reaches fewer heights than needed. A curve that rises but once shows something made
    late, such as a list that needed more room, or the rest of a batch at the end. So does one that
    has come to rest, and then rises once by a small part: a ring that was filled, in a deque whose
    next block comes later. What grows steadily rises in both halves about as often; and what grows
    by doubling, rarely but far.
    """
    levels = _levels(curve, skipped)
    highest = list(accumulate(levels, max))
    if len(set(highest)) < heights:
        return 0
    before = highest[(len(levels) - 1) // 2]
    rise = highest[-1] - before
    once = len({level for level in highest if level > before}) == 1
    return 0 if once and rise * _SMALL_PART <= before else rise


def _levels(curve: list[int], skipped: frozenset[int]) -> list[int]:
    """The curve from 0 on, without the steps that are skipped."""
    level, levels = 0, [0]
    for position in range(1, len(curve)):
        if position not in skipped:
            level += curve[position] - curve[position - 1]
            levels.append(level)
    return levels
