"""What numpy's lists lack for a moment while two threads make arrays: it is no line's.

Whether numpy takes memory for an array, or has a block left in a list of its own, depends on how
many arrays all threads have just then (see harness.probes.listed): on the scheduler, so that no
line of code may be told to be its owner. It happens a few times at most, for each such block stays
in circulation. What a line needs on every step, a list that is too short lacks on every step.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from harness.owners import HARNESS, Site
from harness.probes.listed import HELD, LARGEST
from harness.timeline import Births, Timeline


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
