"""The run that the rule `error-path` takes, and what is read from it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from harness import bad_frames
from harness.error_evidence import ErrorEvidence, Incident, Kind, judge, leaks
from harness.owners import Owners
from harness.probes import trace
from harness.probes.heap import FIELDS
from harness.reading import build
from harness.result import Failure, StackFrame
from harness.result_log import read_log
from harness.spec import RESULTS, SAMPLES, TRACE, RunSpec

if TYPE_CHECKING:
    from harness.isolate import Ended

Run: TypeAlias = Callable[[RunSpec], AbstractContextManager["Ended"]]
"""Runs a child: `functools.partial(isolate.run, timeout=..., watch=...)`"""

_FRAME = re.compile(r'\s*File "(?P<file>[^"]*)", line (?P<line>\d+),? in (?P<function>\S+)')
_KINDS: dict[str, Kind] = {"crashed": "crash", "killed": "crash", "hung": "hang"}


def gather(spec: RunSpec, run: Run, owners: Sequence[tuple[str, str]] = ()) -> ErrorEvidence:
    """Run the errors instrument in the geometry of the first frame. `spec` is the measured run's.

    `owners` are the user's (owner, glob) pairs.
    """
    spec = msgspec.structs.replace(spec, instrument="errors", cycles=1)
    with run(spec) as ended:
        return read(ended, owners)


def read(ended: Ended, owners: Sequence[tuple[str, str]]) -> ErrorEvidence:
    """The evidence in the folder of an ended run."""
    failure, outcome = ended.failure, ended.outcome
    if failure is not None and failure.cycle <= bad_frames.PASSES.index("second control") + 1:
        return ErrorEvidence(unclear=f"good frames alone already fail: {failure.text}")
    if outcome is None:
        return ErrorEvidence(unclear="the run left nothing")
    if failure is not None:
        # What was still to come when it broke off is not to be counted as lost.
        return ErrorEvidence(incidents=(_broken_off(failure),))
    evidence = judge(read_log(ended.folder / RESULTS), outcome.raised_at, stateful=outcome.stateful)
    samples = _samples(ended)
    timeline = build(
        trace.read(ended.folder / TRACE),
        bad_frames.intervals(),
        Owners(owners, outcome.target_root),
        lambda timeline: bool(leaks(timeline, samples)),
    )
    if len(timeline.intervals) < len(bad_frames.intervals()):
        note = "the trace broke off, so that only totals were looked at for what errors leave"
        evidence = replace(evidence, notes=(*evidence.notes, note))
        return replace(evidence, leaks=leaks(None, samples))
    return replace(evidence, leaks=leaks(timeline, samples))


def _samples(ended: Ended) -> array[int]:
    """Those of the rounds' ends, without the one before."""
    return array("q", (ended.folder / SAMPLES).read_bytes())[len(FIELDS) :]


def _broken_off(failure: Failure) -> Incident:
    """The run did not come to its end: by a crash, a hang, or an exception that is no Exception."""
    what = failure.text.rpartition(" (in ")[0]
    stack = stack_in(failure.detail)
    if failure.phase == "second close":
        return Incident("second-close", failure.frame, what, stack)
    return Incident(ending(failure), failure.frame, f"{what}, in {failure.phase}", stack)


def ending(failure: Failure) -> Kind:
    """How a run ended that did not come to its end, as the kind of a finding."""
    return _KINDS.get(failure.kind, "no-end")


def stack_in(detail: str) -> tuple[StackFrame, ...]:
    """The stack of the current thread, or else of the first, in what Python has written of it."""
    fault = detail.rfind("Current thread ")
    if fault < 0:
        fault = detail.find("Thread 0x")
    lines = detail[max(fault, 0) :].splitlines()
    if fault >= 0:  # as faulthandler writes it: up to an empty line
        lines = list(takewhile(str.strip, lines))
    found = [match for line in lines if (match := _FRAME.match(line))]
    stack = [(match["function"], match["file"], int(match["line"])) for match in found]
    # A fault's stack begins with the innermost frame; a traceback ends with it.
    return tuple(stack if fault >= 0 else reversed(stack))
