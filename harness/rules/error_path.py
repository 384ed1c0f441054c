"""error-path: a bad frame costs itself, and nothing else.

Given a frame that it can't take, a backend raises one exception, at that frame's turn, or makes
something of it. It then serves the frames that follow as if nothing had been, keeps nothing for
each error, and closes; to close it once more does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from harness.bad_frames import KINDS, ROUNDS
from harness.contract import Contract
from harness.error_evidence import ErrorEvidence, Incident, Leak, name_of
from harness.owners import SOURCE, users_part
from harness.result import Finding, RuleResult
from harness.timeline import Timeline

ID = "error-path"
_ROUNDS_COUNTED = ROUNDS - 1
_ERRORS_COUNTED = _ROUNDS_COUNTED * len(KINDS)
"""What the first round leaves is first use."""
_THINGS = {
    "heap_bytes": "bytes of memory from a malloc that no tracer sees",
    "python_blocks": "small Python objects",
    "threads": "threads",
    "descriptors": "file descriptors",
    "cuda_bytes": "bytes of GPU memory",
    "cuda_blocks": "blocks of GPU memory",
    "pinned_bytes": "bytes of pinned memory",
}


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: incidents, and places that keep something for each error."""
    evidence = timeline.errors
    if evidence is None:
        return RuleResult(ID, "skipped", 0, 0, "bad frames were not tried")
    if evidence.unclear:
        return RuleResult(ID, "skipped", 0, 0, evidence.unclear)
    incidents = sorted(evidence.incidents, key=lambda incident: incident.kind)
    groups = [list(group) for _, group in groupby(incidents, key=lambda each: each.kind)]
    groups.sort(key=lambda group: group[0].frame)
    findings = (*map(_incident, groups), *map(_leak, evidence.leaks))
    return RuleResult(
        ID,
        "fail" if findings else "pass",
        len(evidence.incidents) + len(evidence.leaks),
        0,
        _why(evidence),
        findings,
    )


def _why(evidence: ErrorEvidence) -> str:
    tried = ROUNDS * len(KINDS)
    text = f"faults in serving {tried} bad frames between good ones"
    if evidence.raised or evidence.accepted:
        text += f" ({evidence.raised} raised an exception, of {evidence.accepted} a result came)"
    return "; ".join([text, *evidence.notes])


def _incident(group: Sequence[Incident]) -> Finding:
    first = group[0]
    function, file, line = first.stack[0] if first.stack else ("", "", 0)
    text = _sentence(first)
    if len(group) > 1:
        text += f"; likewise {len(group) - 1} more"
    return Finding(
        owner="backend",
        file=file,
        line=line,
        function=function,
        frames=tuple(sorted({incident.frame for incident in group})),
        count=len(group),
        bytes=0,
        cycle=0,
        stack=first.stack,
        kind=first.kind,
        text=text,
    )


def _sentence(incident: Incident) -> str:
    frame, what = name_of(incident.frame), incident.text
    match incident.kind:
        case "swallowed-error":
            return f"{frame} has neither an exception nor a result"
        case "good-frame-failed":
            return f"{frame}, fails: {what}"
        case "good-frame-lost":
            return f"{frame} has no result"
        case "wrong-after-error":
            return f"the result of {frame}, is not that of a run without bad frames"
        case "extra-event":
            return f"after {frame}: one more than there were frames: {what}"
        case "flush-error":
            return f"flush fails after bad frames: {what}"
        case "close-error":
            return f"close fails after bad frames: {what}"
        case "second-close":
            return f"a second close must do nothing: {what}"
    return f"{what}; the last frame was {frame}"


def _leak(leak: Leak) -> Finding:
    per_round = leak.count // _ROUNDS_COUNTED
    if leak.site is None:
        text = (
            f"{leak.count:,} {_THINGS.get(leak.what, leak.what)} more after {_ERRORS_COUNTED} "
            f"errors than before them, {per_round:,} with each round: it grows with the errors"
        )
        return Finding(
            owner="backend",
            file="",
            line=0,
            function=leak.what,
            frames=(),
            count=1 if leak.bytes else leak.count,
            bytes=leak.bytes,
            cycle=0,
            stack=(),
            kind="leak-per-error",
            text=text,
        )
    site = leak.site
    what = "bad frames, or frames beside them, that something keeps" if site.owner == SOURCE else ""
    words = "freed by the garbage collector only" if leak.delayed else "still there"
    text = (
        f"{leak.count:,} blocks of {leak.bytes:,} bytes in all at {site.where}"
        f"{', ' + what if what else ''}, {words} after {_ERRORS_COUNTED} errors, "
        f"{per_round:,} with each round of {len(KINDS)}: it grows with the errors"
    )
    return Finding(
        owner=site.owner,
        file=site.file,
        line=site.line,
        function=site.function,
        frames=(),
        count=leak.count,
        bytes=leak.bytes,
        cycle=0,
        stack=users_part(site.stack),
        kind="delayed-release" if leak.delayed else "leak-per-error",
        text=text,
    )
