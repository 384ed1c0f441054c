"""From counts at sites to findings and their words: what the memory rules share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.owners import Site, users_part
from harness.result import Finding
from harness.timeline import Timeline


@dataclass
class Line:
    """All that was counted against one line of code."""

    site: Site
    """the first of those on this line"""
    births: list[tuple[Site, int]] = field(default_factory=list)
    """(site, interval of birth) of all that was counted"""
    count: int = 0
    bytes: int = 0

    @property
    def intervals(self) -> list[int]:
        """The intervals of birth, in order."""
        return sorted({interval for _, interval in self.births})


Meaning: TypeAlias = tuple[str, str]
"""The kind of a finding, and the words that end its sentence."""


class Evidence:
    """Counts against lines of code, in the order in which they were first seen."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lines: dict[tuple[str, str, int, str], Line] = {}

    def add(self, site: Site, interval: int, count: int, size: int) -> None:
        """Count blocks that were born at this site in this interval."""
        key = (site.owner, site.file, site.line, site.function)
        line = self._lines.setdefault(key, Line(site))
        line.births.append((site, interval))
        line.count += count
        line.bytes += size

    @property
    def count(self) -> int:
        """All blocks counted."""
        return sum(line.count for line in self._lines.values())

    @property
    def bytes(self) -> int:
        """All bytes counted."""
        return sum(line.bytes for line in self._lines.values())

    def findings(self, judge: Callable[[Line], Meaning]) -> tuple[Finding, ...]:
        """One finding per line of code, most bytes first.

        The words of the meaning end the sentence that begins "step 57 (256x256, steady): 1
        allocation of 196,608 bytes at backend/x.py:88 in fill_input".
        """
        return tuple(
            self._finding(line, judge(line))
            for line in sorted(self._lines.values(), key=lambda line: -line.bytes)
        )

    def _finding(self, line: Line, meaning: Meaning) -> Finding:
        kind, words = meaning
        timeline, site = self._timeline, line.site
        intervals = line.intervals
        first = timeline.intervals[intervals[0]]
        frames = sorted(
            {
                frame
                for number in intervals
                if (step := timeline.intervals[number].step)
                and timeline.intervals[number].cycle == first.cycle
                for frame in range(step.first, step.last + 1)
            }
        )
        when, what = _name(timeline, intervals), amount(line.count, line.bytes)
        return Finding(
            owner=site.owner,
            file=site.file,
            line=site.line,
            function=site.function,
            frames=tuple(frames),
            count=line.count,
            bytes=line.bytes,
            cycle=first.cycle,
            stack=users_part(site.stack),
            kind=kind,
            text=f"{when}: {what} at {site.where}, {words}",
            native=timeline.natives.get((site.file, site.line), ()),
        )


def amount(count: int, size: int) -> str:
    """Blocks and bytes in words."""
    if count == 1:
        return f"1 allocation of {size:,} bytes"
    return f"{count:,} allocations of {size:,} bytes in all"


def _name(timeline: Timeline, numbers: list[int]) -> str:
    """The first interval of several in words, and how many more there are."""
    interval = timeline.intervals[numbers[0]]
    if (step := interval.step) is None:
        name = f"{interval.kind} of cycle {interval.cycle}"
    else:
        of = f" of cycle {interval.cycle}" if timeline.cycles > 1 else ""
        name = f"step {step.index}{of} ({step.width}x{step.height}, {step.phase})"
    more = len(numbers) - 1
    return f"{name} and {more:,} more" if more else name
