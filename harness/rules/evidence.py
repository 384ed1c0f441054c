"""From counts at sites to findings and their words: what the memory rules share."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.owners import Site, users_part
from harness.result import Finding
from harness.timeline import Timeline


@dataclass
class _Line:
    """All that was counted against one line of code."""

    site: Site
    intervals: list[int] = field(default_factory=list)
    count: int = 0
    bytes: int = 0


class Evidence:
    """Counts against lines of code, in the order in which they were first seen."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lines: dict[tuple[str, str, int, str], _Line] = {}

    def add(self, site: Site, interval: int, count: int, size: int) -> None:
        """Count blocks that were born at this site in this interval."""
        key = (site.owner, site.file, site.line, site.function)
        line = self._lines.setdefault(key, _Line(site))
        line.intervals.append(interval)
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

    def findings(self, meaning: str) -> tuple[Finding, ...]:
        """One finding per line of code, most bytes first.

        `meaning` ends the sentence that begins "step 57 (256x256, steady): 1 allocation of 196,608
        bytes at backend/x.py:88 in fill_input".
        """
        return tuple(
            self._finding(line, meaning)
            for line in sorted(self._lines.values(), key=lambda line: -line.bytes)
        )

    def _finding(self, line: _Line, meaning: str) -> Finding:
        timeline, site = self._timeline, line.site
        intervals = sorted(set(line.intervals))
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
            text=f"{when}: {what} at {site.where}, {meaning}",
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
