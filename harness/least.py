"""The least workload that still shows a fault: smaller ones are tried for as long as they do.

A reduction by tries, as Zeller and Hildebrandt's delta debugging (2002) is, in the terms of a
stream: first fewer segments, then smaller frames, then fewer of them, then plainer rates and
formats. Where a fault needs two sizes in a relation, such as a frame on its side, sizes shrink
together: each becomes its rank among all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from harness.workload import Segment, Workload

PLAIN_RATE = Fraction(25)
"""a frame in each step"""
ROUND_RATES = tuple(map(Fraction, (25, 50, 100, 1000)))
_Order = tuple[int, int, int, int, int, tuple[int, ...]]


def least(
    workload: Workload, shows: Callable[[Workload], bool], tries: int = 1000
) -> tuple[Workload, int]:
    """The smallest workload found for which `shows` holds, as it does for the one given, and how
    many were tried; `tries` at the most."""
    tried: set[Workload] = {workload}
    while True:
        for smaller in _smaller(workload):
            if len(tried) > tries:
                return workload, tries
            if smaller in tried or _order(smaller) >= _order(workload):
                continue
            tried.add(smaller)
            if shows(smaller):
                workload = smaller
                break
        else:
            return workload, len(tried) - 1


def _order(workload: Workload) -> _Order:
    """What is smaller comes first."""
    segments = workload.segments
    return (
        len(segments),
        sum(s.width * s.height for s in segments) + sum(s.width + s.height for s in segments),
        workload.frame_count,
        sum(_oddness(s.fps) for s in segments),
        sum(s.format is not None for s in segments),
        tuple(s.height for s in segments),  # of two that are one another's turn, the wide one
    )


def _oddness(fps: Fraction) -> int:
    return ROUND_RATES.index(fps) if fps in ROUND_RATES else len(ROUND_RATES)


def _smaller(workload: Workload) -> Iterator[Workload]:
    """Workloads with less in them, the boldest first."""
    segments = workload.segments
    count = len(segments)
    length = count // 2
    while length:
        for start in range(0, count - length + 1, length):
            yield Workload(segments[:start] + segments[start + length :])
        length //= 2
    yield from _merged(segments)
    yield from _ranked(segments)
    yield from _alike(segments)
    yield Workload(tuple(map(_turned, segments)))
    yield Workload(tuple(replace(s, fps=PLAIN_RATE) for s in segments))
    for place, segment in enumerate(segments):
        for less in _less(segment):
            yield Workload((*segments[:place], less, *segments[place + 1 :]))


def _merged(segments: tuple[Segment, ...]) -> Iterator[Workload]:
    """Two neighbours as one, in the words of either."""
    for place in range(len(segments) - 1):
        one, other = segments[place : place + 2]
        for kept in (one, other):
            both = replace(kept, frames=one.frames + other.frames)
            yield Workload((*segments[:place], both, *segments[place + 2 :]))


def _ranked(segments: tuple[Segment, ...]) -> Iterator[Workload]:
    """All sizes at once: each its rank among all, or half of what it is."""
    sides = sorted({side for s in segments for side in (s.width, s.height)})
    for of in (lambda side: sides.index(side) + 1, lambda side: max(1, side // 2)):
        yield Workload(tuple(replace(s, width=of(s.width), height=of(s.height)) for s in segments))


def _alike(segments: tuple[Segment, ...]) -> Iterator[Workload]:
    """All segments of one size at once: a fault may need it to come back."""
    for width, height in dict.fromkeys((s.width, s.height) for s in segments):
        smaller = (
            *((less, height) for less in _fewer(width)),
            *((width, less) for less in _fewer(height)),
        )
        for size in smaller:
            yield Workload(
                tuple(
                    replace(s, width=size[0], height=size[1])
                    if (s.width, s.height) == (width, height)
                    else s
                    for s in segments
                )
            )


def _less(segment: Segment) -> Iterator[Segment]:
    """One segment with less in it."""
    yield from (replace(segment, width=width) for width in _fewer(segment.width))
    yield from (replace(segment, height=height) for height in _fewer(segment.height))
    yield _turned(segment)
    for frames in _fewer(segment.frames):
        yield replace(segment, frames=frames)
    for fps in ROUND_RATES[: _oddness(segment.fps)]:
        yield replace(segment, fps=fps)
    if segment.format is not None:
        yield replace(segment, format=None)


def _turned(segment: Segment) -> Segment:
    return replace(segment, width=segment.height, height=segment.width)


def _fewer(value: int) -> Iterator[int]:
    """1, then from half of it up to one less."""
    if value > 1:
        yield 1
    step = value // 2
    while step:
        yield value - step
        step //= 2
