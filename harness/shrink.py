"""From a report of a fault to the least workload that shows it: the same runs, of smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from harness.least import least
from harness.result import Progress, Report
from harness.workload import Workload

MOST_TRIES = 200
"""A quick run takes half a second."""

_Fault = tuple[str, str, str, int]
"""(rule, kind, file, line); of a run without a verdict (phase, kind of failure, "", 0)"""


class Again(Protocol):
    """Verifies another workload as the first one was."""

    def __call__(self, workload: Workload, *, quick: bool) -> Report: ...


def shrink(report: Report, again: Again, tell: Callable[[Progress], None]) -> str:
    """What is to be said of it, in a sentence: the least workload that shows the first fault.

    `report` is one that does not pass. Frames are synthetic, also where it is of a video.
    """
    fault = _faults(report)[0]
    workload = Workload.parse(report.workload)
    tried = 0

    def shows(smaller: Workload, *, quick: bool = True) -> bool:
        nonlocal tried
        tried += 1
        tell(Progress("shrink", 0, 0, tried, MOST_TRIES, str(smaller)))
        return fault in _faults(again(smaller, quick=quick))

    quick = shows(workload)
    if not quick and not shows(workload, quick=False):
        return f"{_name(fault)} does not show again with made-up frames of the same sizes"
    found, count = least(workload, lambda smaller: shows(smaller, quick=quick), MOST_TRIES)
    if found == workload:
        return f"no smaller workload of {count} that were tried shows {_name(fault)}"
    more = "" if count < MOST_TRIES else ", as far as it was looked for"
    return f"the least workload that shows {_name(fault)} is {found} ({count} were tried{more})"


def _faults(report: Report) -> list[_Fault]:
    if report.failure is not None:
        return [(report.failure.phase, report.failure.kind, "", 0)]
    return [
        (rule.rule, finding.kind, finding.file, finding.line)
        for rule in report.rules
        if rule.status == "fail"
        for finding in rule.findings
    ] or [(rule.rule, "", "", 0) for rule in report.rules if rule.status == "fail"]


def _name(fault: _Fault) -> str:
    rule, kind, file, line = fault
    place = f" at {file}:{line}" if line else ""
    return f"{rule} ({kind}){place}" if kind else rule
