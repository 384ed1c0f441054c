"""What a backend leaves behind that is closed while frames are in flight.

A user stops a film at any moment. FFmpeg's LibTorch backend then crashes, or leaves the frames of
its task queues behind. So in a run of their own some cycles open the backend, submit a burst and
close at once, with no flush and no result taken. Then what holds of teardown must hold as ever.
How far the inferences have come is up to the scheduler, and with it how much a fault leaves; a
sound backend leaves nothing in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import msgspec

from harness.contract import Contract
from harness.error_runs import ending, stack_in
from harness.isolate import Ended
from harness.owners import Owners
from harness.probes import trace
from harness.reading import build
from harness.result import Failure, Finding, RuleResult
from harness.rules import RULES
from harness.spec import TRACE, RunSpec
from harness.timeline import Interval, Timeline

JUDGED = ("prompt-release", "teardown-release", "teardown-resources")
_WHEN = "closed with frames in flight"
_CYCLES = 4
"""The first one ends as it should: what it leaves is first use. One of the others is the last."""


@dataclass(frozen=True)
class EarlyClose:
    """What the run has shown: a timeline of its cycles, or why it did not come to its end."""

    timeline: Timeline | None = None
    failure: Failure | None = None


def gather(
    spec: RunSpec,
    contract: Contract,
    run: Callable[[RunSpec], AbstractContextManager[Ended]],
    owners: Sequence[tuple[str, str]],
) -> EarlyClose:
    """Make the run. `spec` is the measured run's; `owners` are the user's (owner, glob) pairs."""
    spec = msgspec.structs.replace(spec, instrument="early-close", cycles=_CYCLES)
    with run(spec) as ended:
        outcome = ended.outcome
        if ended.failure is not None or outcome is None:
            return EarlyClose(failure=ended.failure)
        intervals = _layout()
        records = trace.read(ended.folder / TRACE)
        timeline = build(
            records,
            intervals,
            Owners(owners, outcome.target_root),
            # Native symbols are read only where something speaks against the backend.
            lambda seen: any(RULES[rule](seen, contract).status == "fail" for rule in JUDGED),
            outcome.mapped,
        )
    if len(timeline.intervals) < len(intervals):
        return EarlyClose()
    timeline.add_ledger(outcome.baseline, outcome.cycle_ends)
    timeline.garbage = outcome.garbage
    return EarlyClose(timeline)


def _layout() -> list[Interval]:
    pairs = ((Interval("open", n), Interval("close", n)) for n in range(1, _CYCLES + 1))
    return [*(interval for pair in pairs for interval in pair), Interval("collect", _CYCLES)]


def added(result: RuleResult, seen: EarlyClose, contract: Contract) -> RuleResult:
    """A rule's result with what it says of these cycles, but for sites that it names already."""
    findings = list(result.findings)
    known = {(finding.file, finding.line, finding.function) for finding in findings}
    measured = result.measured
    for finding in _said(result.rule, seen, contract):
        if (finding.file, finding.line, finding.function) not in known:
            text = f"{_WHEN}, {finding.text}"
            findings.append(msgspec.structs.replace(finding, text=text))
            measured += finding.bytes or finding.count
    if len(findings) == len(result.findings):
        return result
    return msgspec.structs.replace(
        result, status="fail", measured=measured, findings=tuple(findings)
    )


def _said(rule: str, seen: EarlyClose, contract: Contract) -> Iterator[Finding]:
    if seen.timeline is not None:
        yield from RULES[rule](seen.timeline, contract).findings
    elif seen.failure is not None and rule == "teardown-release":
        yield _broken_off(seen.failure)


def _broken_off(failure: Failure) -> Finding:
    stack = stack_in(failure.detail)
    function, file, line = stack[0] if stack else (failure.phase, "", 0)
    return Finding(
        owner="backend",
        file=file,
        line=line,
        function=function,
        frames=(),
        count=1,
        bytes=0,
        cycle=failure.cycle,
        stack=stack,
        kind=f"{ending(failure)}-at-early-close",
        text=failure.text,
    )
