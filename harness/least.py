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
from typing import TypeAlias

from harness.workload import Segment, Workload

PLAIN_RATE = Fraction(25)
"""a frame in each step"""
ROUND_RATES = tuple(map(Fraction, (25, 50, 100, 1000)))
_Segments: TypeAlias = tuple[Segment, ...]
_Kind: TypeAlias = Callable[[_Segments], Iterator[Workload]]
"""From the segments of a workload to smaller ones of one kind, the boldest first"""
_Order: TypeAlias = tuple[int, int, int, int, int, tuple[int, ...]]


def least(
    workload: Workload, shows: Callable[[Workload], bool], tries: int = 1000
) -> tuple[Workload, int]:
    """The smallest workload found for which `shows` holds, as it does for the one given, and how
    many were tried; `tries` at the most."""
    search = _Search(workload, shows, tries)
    while any(search.goes_on_with(kind) for kind in _KINDS):
        pass
    return search.least, len(search.tried) - 1


class _Search:
    """The least one so far, and all that were tried."""

    def __init__(self, workload: Workload, shows: Callable[[Workload], bool], tries: int) -> None:
        self.least = workload
        self.tried = {workload}
        self._shows = shows
        self._tries = tries

    def goes_on_with(self, kind: _Kind) -> bool:
        """Try one kind of smaller workloads as long as one shows it; whether any did."""
        any_did = False
        while self._finds_one_of(kind):
            any_did = True
        return any_did

    def _finds_one_of(self, kind: _Kind) -> bool:
        for smaller in kind(self.least.segments):
            if smaller in self.tried or _order(smaller) >= _order(self.least):
                continue
            if len(self.tried) > self._tries:
                return False
            self.tried.add(smaller)
            if self._shows(smaller):
                self.least = smaller
                return True
        return False


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


def _dropped(segments: _Segments) -> Iterator[Workload]:
    """Without some segments, many at first."""
    count = len(segments)
    length = count // 2
    while length:
        for start in range(0, count - length + 1, length):
            yield Workload(segments[:start] + segments[start + length :])
        length //= 2


def _merged(segments: _Segments) -> Iterator[Workload]:
    """Two neighbours as one, in the words of either."""
    for place in range(len(segments) - 1):
        one, other = segments[place : place + 2]
        for kept in (one, other):
            both = replace(kept, frames=one.frames + other.frames)
            yield Workload((*segments[:place], both, *segments[place + 2 :]))


def _ranked(segments: _Segments) -> Iterator[Workload]:
    """All sizes at once: each its rank among all, or half of what it is."""
    sides = sorted({side for s in segments for side in (s.width, s.height)})
    for of in (lambda side: sides.index(side) + 1, lambda side: max(1, side // 2)):
        yield Workload(tuple(replace(s, width=of(s.width), height=of(s.height)) for s in segments))


def _alike(segments: _Segments) -> Iterator[Workload]:
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


def _plain(segments: _Segments) -> Iterator[Workload]:
    """All rates at once, then all formats."""
    yield Workload(tuple(replace(s, fps=PLAIN_RATE) for s in segments))
    yield Workload(tuple(replace(s, format=None) for s in segments))


def _each(less: Callable[[Segment], Iterator[Segment]]) -> _Kind:
    """One segment with less in it, the others as they are."""

    def smaller(segments: _Segments) -> Iterator[Workload]:
        for place, segment in enumerate(segments):
            for one in less(segment):
                yield Workload((*segments[:place], one, *segments[place + 1 :]))

    return smaller


def _shorter(segment: Segment) -> Iterator[Segment]:
    yield from (replace(segment, frames=frames) for frames in _fewer(segment.frames))


def _narrower(segment: Segment) -> Iterator[Segment]:
    yield from (replace(segment, width=width) for width in _fewer(segment.width))
    yield from (replace(segment, height=height) for height in _fewer(segment.height))
    yield _turned(segment)


def _plainer(segment: Segment) -> Iterator[Segment]:
    yield from (replace(segment, fps=fps) for fps in ROUND_RATES[: _oddness(segment.fps)])
    yield replace(segment, format=None)


def _turned(segment: Segment) -> Segment:
    return replace(segment, width=segment.height, height=segment.width)


def _turned_all(segments: _Segments) -> Iterator[Workload]:
    yield Workload(tuple(map(_turned, segments)))


def _fewer(value: int) -> Iterator[int]:
    """1, then from half of it up to one less."""
    if value > 1:
        yield 1
    step = value // 2
    while step:
        yield value - step
        step //= 2


_KINDS: tuple[_Kind, ...] = (
    _dropped,
    _merged,
    _ranked,
    _plain,
    _each(_shorter),
    _alike,
    _each(_narrower),
    _each(_plainer),
    _turned_all,
)
