"""The lines of code behind the counts of a run, whoever's they are and whatever the level says.

Rules name the lines that violate a contract. Here are all of them, so that two runs can be compared
line by line.
"""

from __future__ import annotations

from harness.owners import BACKEND, INTERPRETER, OWN
from harness.result import Finding
from harness.rules.evidence import Evidence, Meaning
from harness.timeline import PAGE, Timeline

STEADY = "steady"
"""all that was allocated on steady steps"""
GROWTH = "growth"
"""blocks of a page or more that the backend allocated on record steps of the last cycle"""
HELD = "held"
"""blocks of a page or more that were alive at the end of the last step of the last cycle"""
FIRST_USE = "first-use"
"""blocks of a page or more that the first cycle left behind; smaller ones come and go with what
the interpreter notes down for each function that runs"""

_LEFT_OUT = OWN | {INTERPRETER}
"""the interpreter takes memory for small objects of anybody, when what it has is full"""


def sites(timeline: Timeline) -> dict[str, tuple[Finding, ...]]:
    """The lines of each kind, most bytes first; frames are those of the cycle seen first."""
    found = {kind: Evidence(timeline) for kind in (STEADY, GROWTH, HELD, FIRST_USE)}
    last_step = timeline.steps[-1] if timeline.steps else None
    for number in timeline.steps:
        interval = timeline.intervals[number]
        assert interval.step is not None
        for site, births in timeline.births[number].items():
            if interval.is_steady and site.owner not in _LEFT_OUT:
                found[STEADY].add(site, number, births.count, births.bytes)
            is_growth = interval.step.phase == "record" and interval.cycle == timeline.cycles
            if is_growth and site.owner == BACKEND and births.buffers:
                found[GROWTH].add(site, number, births.buffers, births.buffer_bytes)
    for span in timeline.spans:
        if span.site.owner in _LEFT_OUT or span.size < PAGE or span.born < 0:
            continue
        if last_step is not None and span.born <= last_step < span.died:
            found[HELD].add(span.site, span.born, span.count, span.bytes)
    for span in timeline.survivors():
        if (
            span.site.owner not in _LEFT_OUT
            and span.size >= PAGE
            and timeline.cycle_of(span.born) == 1
        ):
            found[FIRST_USE].add(span.site, span.born, span.count, span.bytes)
    return {
        kind: evidence.findings(lambda _, kind=kind: _meaning(kind))  # type: ignore[misc]
        for kind, evidence in found.items()
    }


def _meaning(kind: str) -> Meaning:
    words = {
        STEADY: "on steady steps",
        GROWTH: "where a larger frame came",
        HELD: "held when the last step ended",
        FIRST_USE: "left behind by the first cycle",
    }
    return kind, words[kind]
