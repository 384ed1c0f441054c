"""What numpy's lists lack: while two threads make arrays, and where another line keeps them.

Whether numpy takes memory for an array, or has a block left in a list of its own, depends on how
many arrays all threads have just then (see harness.probes.listed): on the scheduler, so that no
line of code may be told to be its owner. It happens a few times at most, for each such block stays
in circulation. What a line needs on every step, a list that is too short lacks on every step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from harness.owners import HARNESS, Site
from harness.probes.listed import HELD, LARGEST
from harness.timeline import Births, Span, Timeline


def leave_to_nobody(timeline: Timeline) -> None:
    """Count such blocks of steady steps as the measurement's own, as the interpreter's arenas are.

    Only for a backend with threads: where there is one alone, the next run does the same.
    """
    for cycle in range(1, timeline.cycles + 1):
        steady = [
            n
            for n in timeline.steps
            if timeline.intervals[n].is_steady and timeline.cycle_of(n) == cycle
        ]
        for site, steps in _of_lists(timeline, steady).items():
            count = sum(timeline.births[step][site].count for step in steps)
            if count <= HELD and 2 * len(steps) < len(steady):
                for step in steps:
                    _disown(timeline.births[step], site)


def _of_lists(timeline: Timeline, steps: list[int]) -> dict[Site, list[int]]:
    """The steps on which a line took blocks that a list might have had."""
    found: dict[Site, list[int]] = defaultdict(list)
    for step in steps:
        for site, births in timeline.births[step].items():
            if site.listed and births.largest <= LARGEST:
                found[site].append(step)
    return found


def _disown(births: dict[Site, Births], site: Site) -> None:
    nobodys = replace(site, owner=HARNESS)
    births[nobodys] = births.get(nobodys, Births()) + births.pop(site)


def of_lines_that_keep(spans: Iterable[Span]) -> Iterator[Span]:
    """Without those that another line's array may have by now, if something is sure to be kept.

    The array that is kept takes a block from a list of numpy's, which a passing one then lacks: it
    takes a new one, and leaves it in the list to the next that is kept.
    """
    blamed = list(spans)
    sure = {_line(span.site) for span in blamed if not span.site.room(span.size)}
    yield from (span for span in blamed if not sure or _line(span.site) in sure)


def passed_on(timeline: Timeline, step: int, sites: Sequence[Site]) -> set[Site]:
    """Of these sites of a step, those all of whose blocks an array of another line's has by now."""
    if not any(site.listed for site in sites):
        return set()
    close = timeline.end_of_cycle(step)
    kept = {
        site: [s for s in timeline.outlived.get((site, step), ()) if s.died >= close]
        for site in sites
    }
    all_kept = chain.from_iterable(kept.values())
    keepers = {span.site for span in of_lines_that_keep(all_kept)}
    return {
        site
        for site, spans in kept.items()
        if site not in keepers and sum(s.count for s in spans) == timeline.births[step][site].count
    }


def _line(site: Site) -> tuple[str, int]:
    return site.file, site.line
