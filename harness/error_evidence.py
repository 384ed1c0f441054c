"""What a backend made of bad frames: what came back in which order, and what stayed behind.

Every frame that `execute` takes is owed one event: a result, or for a bad frame an exception. The
events that came are laid beside those that were owed so that they disagree as little as possible;
what disagrees is an incident.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Literal

from harness import bad_frames
from harness.bad_frames import Planned
from harness.lacking import of_lines_that_keep
from harness.owners import HARNESS, INTERPRETER, Site
from harness.probes.heap import FIELDS
from harness.result import StackFrame
from harness.result_log import RESULTS, Event, Group, Row
from harness.screening import LEAST_CHUNK
from harness.timeline import Span, Timeline

Kind = Literal[
    "swallowed-error",
    "good-frame-failed",
    "good-frame-lost",
    "wrong-after-error",
    "extra-event",
    "flush-error",
    "close-error",
    "second-close",
    "crash",
    "hang",
    "no-end",
]


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that a backend must not do, whatever it is given."""

    kind: Kind
    frame: int
    """of the schedule; the one that it happened to, or the last one submitted"""
    text: str = ""
    """what was raised, or how the run ended"""
    stack: tuple[StackFrame, ...] = ()
    """where it was raised, or the run ended, innermost frame first, if that is known"""


@dataclass(frozen=True, slots=True)
class Leak:
    """Memory of one line, or another resource, that there is more of after each round of errors."""

    what: str
    """"memory", or a field of harness.probes.heap.FIELDS"""
    count: int
    """blocks, objects, threads, ...; bytes where that is what the field counts"""
    bytes: int
    site: Site | None = None
    delayed: bool = False
    """freed, but by the garbage collector only"""


@dataclass(frozen=True, slots=True)
class ErrorEvidence:
    """All that the rule `error-path` needs to know."""

    incidents: tuple[Incident, ...] = ()
    leaks: tuple[Leak, ...] = ()
    raised: int = 0
    """bad frames that were answered with an exception"""
    accepted: int = 0
    """bad frames that a result came of"""
    unclear: str = ""
    """why nothing could be judged"""
    notes: tuple[str, ...] = ()
    """what could not be judged beside the rest"""


_ENDS: tuple[tuple[Event, Kind, str], ...] = (
    (Event.FLUSH_ERROR, "flush-error", "flush"),
    (Event.CLOSE_ERROR, "close-error", "close"),
    (Event.SECOND_CLOSE_ERROR, "second-close", "second close"),
)
"""event, kind of the incident, phase of the run"""


def judge(
    groups: Sequence[Group], raised_at: Mapping[str, tuple[StackFrame, ...]], *, stateful: bool
) -> ErrorEvidence:
    """What the last pass that was begun made of the frames, held against the control passes.

    `raised_at` are the stacks of what flush and close raised, by phase.
    """
    control, again, *spoiled = groups[: len(bad_frames.PASSES)]
    good = [frame for frame in bad_frames.schedule() if not frame.bad]
    if broken := [row for row in control.rows if row.event not in RESULTS]:
        return ErrorEvidence(unclear=f"good frames alone already fail: {broken[0].text}")
    notes = []
    known: dict[int, Row] = {}
    if control.count != len(good):
        notes.append(f"{control.count} results come of {len(good)} good frames alone")
    elif [row.key for row in control.rows] != [row.key for row in again.rows]:
        notes.append("results are random, so that those after a bad frame can't be compared")
    else:
        known = {frame.number: row for frame, row in zip(good, control.rows, strict=True)}
    rows = next((group.rows for group in reversed(spoiled) if group.count), [])
    evidence = _align(rows, known)
    if stateful and evidence.accepted:
        notes.append("it took bad frames into its state, so that later results can't be compared")
        evidence = _align(rows, {})
    ended = [
        Incident(kind, row.frame, row.text, raised_at.get(phase, ()))
        for row in rows
        for event, kind, phase in _ENDS
        if row.event == event
    ]
    incidents = (*evidence.incidents, *ended)
    return replace(evidence, incidents=incidents, notes=tuple(notes))


_MATCHED = 0
_SMALL = 2
_LARGE = 4
_UNLIKELY = 3
"""Costs of a disagreement. It is likelier that a bad frame is passed over than that a good one is,
and that a good frame's result is its own than that of the bad one beside it."""

Step = tuple[int, int, Incident | None]
"""(events of what was owed, events of what came) that this uses up, and what is wrong with it"""


def _align(rows: Sequence[Row], known: dict[int, Row]) -> ErrorEvidence:
    """Lay what came beside what was owed. `known` are the results due for good frames."""
    refused = {row.frame: row for row in rows if row.event == Event.REFUSED}
    owed = [frame for frame in bad_frames.schedule() if frame.number not in refused]
    came = [row for row in rows if row.event in (*RESULTS, Event.ERROR)]
    incidents = [
        Incident("good-frame-failed", frame.number, refused[frame.number].text)
        for frame in bad_frames.schedule()
        if not frame.bad and frame.number in refused
    ]
    raised = sum(1 for frame in bad_frames.schedule() if frame.bad and frame.number in refused)
    accepted = 0
    for frame, row, incident in _path(owed, came, known):
        if incident is not None:
            incidents.append(incident)
        elif frame is not None and frame.bad and row is not None:
            raised += row.event == Event.ERROR
            accepted += row.event != Event.ERROR
    incidents.sort(key=lambda incident: incident.frame)
    return ErrorEvidence(tuple(incidents), raised=raised, accepted=accepted)


def _path(
    owed: list[Planned], came: list[Row], known: dict[int, Row]
) -> Iterator[tuple[Planned | None, Row | None, Incident | None]]:
    """The cheapest way through both, as (what was owed, what came, what is wrong)."""
    results_of_good = {row.key for row in known.values()}

    @cache
    def cost(i: int, j: int) -> int:
        """The least cost of what is left behind owed[:i] and came[:j]."""
        return min((price + cost(*to) for price, to in moves(i, j)), default=0)

    def moves(i: int, j: int) -> list[tuple[int, tuple[int, int]]]:
        possible = []
        if i < len(owed) and j < len(came):
            price = _price(owed[i], came[j], known, results_of_good)
            possible.append((price, (i + 1, j + 1)))
        if i < len(owed):
            possible.append((_SMALL if owed[i].bad else _LARGE, (i + 1, j)))
        if j < len(came):
            possible.append((_LARGE, (i, j + 1)))
        return possible

    i = j = 0
    while possible := moves(i, j):
        _, (to_i, to_j) = min(possible, key=lambda move: move[0] + cost(*move[1]))
        frame = owed[i] if to_i > i else None
        row = came[j] if to_j > j else None
        yield frame, row, _incident(frame, row, known)
        i, j = to_i, to_j


def _price(
    frame: Planned, row: Row, known: dict[int, Row], results_of_good: set[tuple[bytes, bytes]]
) -> int:
    if frame.bad:
        is_a_good_frames = row.event == Event.RESULT and row.key in results_of_good
        return _UNLIKELY if is_a_good_frames else _MATCHED
    if row.event == Event.ERROR:
        return _LARGE
    return _MATCHED if _is_right(frame, row, known) else _SMALL


def _is_right(frame: Planned, row: Row, known: dict[int, Row]) -> bool:
    due = known.get(frame.number)
    if due is None or {due.event, row.event} & RESULTS - {Event.RESULT}:
        return True
    return due.key == row.key


def _incident(frame: Planned | None, row: Row | None, known: dict[int, Row]) -> Incident | None:
    if frame is None:
        assert row is not None
        what = row.text if row.event == Event.ERROR else f"a result: {row.text}"
        return Incident("extra-event", row.frame, what)
    if row is None:
        return Incident("swallowed-error" if frame.bad else "good-frame-lost", frame.number)
    if frame.bad:
        return None
    if row.event == Event.ERROR:
        return Incident("good-frame-failed", frame.number, row.text)
    if not _is_right(frame, row, known):
        return Incident("wrong-after-error", frame.number)
    return None


def leaks(timeline: Timeline | None, samples: Sequence[int]) -> tuple[Leak, ...]:
    """What there is more of after each round of errors than after the one before.

    `timeline` is of the traced pass, `samples` are of the screened one, at each round's end. What
    the heap or the count of objects adds is told only where no traced line explains it.
    """
    found = list(_traced(timeline)) if timeline is not None else []
    for number, name in enumerate(FIELDS):
        values = samples[number :: len(FIELDS)]
        rise = _rise(values, LEAST_CHUNK if name == "heap_bytes" else 1)
        # A leaked array has a leaked object, and its block is in the heap.
        of_the_same = any(leak.site is not None and not leak.delayed for leak in found)
        explained = of_the_same and name in ("heap_bytes", "python_blocks")
        explained = explained or name == "virtual_pages"
        if rise and not explained:
            found.append(Leak(name, rise, rise if name.endswith("_bytes") else 0))
    return tuple(found)


def _rise(values: Sequence[int], least: int = 1) -> int:
    """By how much these rise in all, 0 unless every one is so much above the one before."""
    steady = len(values) == bad_frames.ROUNDS and all(b - a >= least for a, b in pairwise(values))
    return values[-1] - values[0] if steady else 0


def _traced(timeline: Timeline) -> Iterator[Leak]:
    ends = [n for n, interval in enumerate(timeline.intervals) if interval.kind == "collect"]
    by_site: dict[Site, list[Span]] = defaultdict(list)
    for span in timeline.spans:
        if span.site.owner not in (HARNESS, INTERPRETER):
            by_site[span.site].append(span)
    kept: list[Span] = []
    for site, spans in by_site.items():
        added = {
            size
            for size in {s.size for s in spans}
            if _rise([timeline.live_blocks(size)[n] for n in ends])
        }
        grows = _rise([_live(spans, end) for end in ends])
        left = [s for s in spans if s.size in added and ends[0] < s.born <= ends[-1] < s.died]
        if grows:
            kept += left
        if delayed := _delayed(spans, ends):
            yield replace(_leak(site, delayed), delayed=True)
    by_keeper: dict[Site, list[Span]] = defaultdict(list)
    for span in of_lines_that_keep(kept):
        by_keeper[span.site].append(span)
    for site, spans in by_keeper.items():
        yield _leak(site, spans)


def _leak(site: Site, spans: Sequence[Span]) -> Leak:
    return Leak("memory", sum(s.count for s in spans), sum(s.bytes for s in spans), site)


def _live(spans: Sequence[Span], end: int) -> int:
    """Bytes of these blocks that are alive at the end of an interval."""
    return sum(span.bytes for span in spans if span.born <= end < span.died)


def _delayed(spans: Sequence[Span], ends: Sequence[int]) -> list[Span]:
    """What the collector freed at the end of every round after the first, born in that round."""
    rounds = [
        [s for s in spans if s.died == end and before < s.born < end]
        for before, end in pairwise(ends)
    ]
    return [span for freed in rounds for span in freed] if all(rounds) else []


def name_of(frame: int) -> str:
    """A frame of the schedule in words."""
    planned = bad_frames.schedule()
    if not 0 <= frame < len(planned):
        return "no frame"
    if planned[frame].bad:
        return f"bad frame {frame} ({planned[frame].bad})"
    if frame and planned[frame - 1].bad:
        return f"good frame {frame}, right after bad frame {frame - 1} ({planned[frame - 1].bad})"
    return f"good frame {frame}"
