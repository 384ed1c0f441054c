"""Which lines of code have more blocks after each of several points than after the one before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate

from harness.result import Finding
from harness.rules.evidence import Evidence
from harness.screening import rises
from harness.timeline import Span, Timeline


def rising_sites(
    timeline: Timeline, points: Sequence[int], exempt: frozenset[str], kind: str, meaning: str
) -> tuple[Finding, ...]:
    """The sites that have more blocks, or larger ones, after each point than after the one before.

    Points are numbers of intervals; -1 is the moment before the first one.
    """
    by_line: dict[tuple[str, str, int, str], list[Span]] = defaultdict(list)
    for span in timeline.spans:
        site = span.site
        if span.born >= 0 and site.owner not in exempt:
            by_line[site.owner, site.file, site.line, site.function].append(span)
    evidence = Evidence(timeline)
    last = points[-1]
    for spans in by_line.values():
        live = _live(spans, len(timeline.intervals))
        if rises([live[point + 1] for point in points]):
            for span in spans:
                if points[0] < span.born <= last < span.died:
                    evidence.add(span.site, span.born, span.count, span.bytes)
    return evidence.findings(lambda line: (kind, meaning))  # noqa: ARG005 - the same for all


def _live(spans: Iterable[Span], intervals: int) -> list[int]:
    """Live bytes before the first interval, then at the end of each."""
    changes = [0] * (intervals + 2)
    for span in spans:
        changes[span.born + 1] += span.bytes
        changes[min(span.died, intervals) + 1] -= span.bytes
    return list(accumulate(changes[:-1]))
