"""Does the detector detect? Planted faults must be found and named, right backends left alone.

What is planted comes from the packages that are installed, by the entry points of the group
`steadyframe.faults`: each is a callable that returns (faults, greens), as `backend.faults.shipped`
does. Every fault is run twice, as it is and repaired.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from harness import isolate
from harness.errors import SETUP, UsageError, meant
from harness.owners import SOURCE
from harness.result import Finding, Report
from harness.side_by_side import each
from harness.verify import verify

GROUP = "steadyframe.faults"
NO_VERDICT = "no-verdict"


@dataclass(frozen=True)
class Planted:
    """One run: a backend, and what must be said of it."""

    name: str
    about: str
    factory: Callable[..., Any]
    asked: dict[str, Any]
    """keyword arguments of `verify`, beside the target"""
    rule: str = ""
    """that must fail, or NO_VERDICT; empty if nothing may be said"""
    kind: str = ""
    phase: str = ""
    file: str = ""
    line: int = 0
    """0 if no line can be named"""
    also: tuple[int, ...] = ()
    """other lines of the same fault, that may be named besides"""
    twin: bool = False
    """the repaired form of the fault of this name"""


@dataclass(frozen=True)
class Seen:
    """What came of one run."""

    planted: Planted
    found: bool
    """the rule, or the failure, with its kind"""
    named: bool | None
    """the line, and no other; None where none can be"""
    said: tuple[str, ...]
    """what is off: what was said instead, or of a backend that is right"""
    seconds: float

    @property
    def right(self) -> bool:
        """Whether all was said that must be, and nothing else."""
        return self.found and self.named is not False


def planted() -> list[Planted]:
    """All runs, faults first, each before its twin. Raises UsageError if nothing is installed."""
    runs: list[Planted] = []
    greens: list[Planted] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        faults, right = point.load()()
        runs += [run for fault in faults for run in _pair(fault)]
        greens += [_run(green, green.backend) for green in right]
    if not runs:
        raise UsageError(f"no faults are installed to be found: {SETUP}")
    return [*runs, *greens]


def _pair(fault: Any) -> Iterator[Planted]:
    yield _run(
        fault,
        fault.faulty,
        rule=fault.rule,
        kind=fault.kind,
        phase=fault.phase,
        file=fault.file,
        line=fault.line,
        also=fault.also,
    )
    yield _run(fault, fault.repaired, twin=True)


def _run(case: Any, factory: Callable[..., Any], **must: Any) -> Planted:
    asked = {
        "workload": case.workload,
        "level": case.level,
        "cycles": case.cycles,
        "options": dict(case.options),
        "stateful": case.stateful,
        "quick": getattr(case, "quick", False),
    }
    if case.timeout is not None:
        asked["timeout"] = case.timeout
    return Planted(case.name, case.about, factory, asked, **must)


def chosen(runs: Sequence[Planted], names: Sequence[str]) -> list[Planted]:
    """The runs of these names, all if there are none. Raises UsageError for one there isn't."""
    known = dict.fromkeys(run.name for run in runs)
    for name in names:
        if name not in known:
            raise UsageError(f"nothing planted is called {name!r}: {meant(name, known)}")
    return [run for run in runs if not names or run.name in names]


def run_all(runs: Sequence[Planted], jobs: int, tell: Callable[[Seen], None]) -> list[Seen]:
    """Run each in a fresh process, `jobs` at a time; what was seen, in the order of `runs`."""
    isolate.prestart(jobs)
    # The longest first, so that none is left at the end to run alone.
    order = sorted(range(len(runs)), key=lambda number: runs[number].asked["quick"])
    return each(runs, _look, jobs, tell, order)


def _look(run: Planted) -> Seen:
    started = time.monotonic()
    report = verify(run.factory, **run.asked)
    return check(run, report, time.monotonic() - started)


def check(run: Planted, report: Report, seconds: float) -> Seen:
    """Hold what a report says against what must be said."""
    if not run.rule:
        said = tuple(_all_said(report))
        return Seen(run, not said, None, said, seconds)
    if run.rule == NO_VERDICT:
        return _check_failure(run, report, seconds)
    findings = [
        finding
        for result in report.rules
        if result.rule == run.rule and result.status == "fail"
        for finding in result.findings
    ]
    mine = [finding for finding in findings if finding.kind == run.kind]
    if not mine:
        return Seen(run, False, None, tuple(_all_said(report)), seconds)
    if not run.line:
        return Seen(run, True, None, (), seconds)
    # The source's line is named beside it where input frames are kept.
    lines = {_line_in(run.file, finding) for finding in mine if finding.owner != SOURCE}
    named = run.line in lines and lines <= {run.line, *run.also}
    return Seen(run, True, named, () if named else tuple(map(_short, mine)), seconds)


def _line_in(file: str, finding: Finding) -> int:
    """The innermost line of this file on the way to what was found, 0 if there is none.

    A fault in a variation of another backend may ask that one for the memory.
    """
    places = [(finding.file, finding.line), *((path, line) for _, path, line in finding.stack)]
    return next((line for place, line in places if place == file), 0)


def _check_failure(run: Planted, report: Report, seconds: float) -> Seen:
    failure = report.failure
    found = failure is not None and (failure.kind, failure.phase) == (run.kind, run.phase)
    return Seen(run, found, None, () if found else tuple(_all_said(report)), seconds)


def _all_said(report: Report) -> Iterator[str]:
    """Everything that speaks against a backend, in short."""
    if report.failure is not None:
        yield f"{report.failure.kind} in {report.failure.phase}: {report.failure.text}"
    elif report.verdict == "no-verdict":
        yield "no verdict, and no reason for it"
    for result in report.rules:
        if result.status == "fail":
            yield from (f"{result.rule}: {_short(finding)}" for finding in result.findings)


def _short(finding: Finding) -> str:
    where = f" at {finding.file}:{finding.line}" if finding.line else ""
    return f"{finding.kind}{where}: {finding.text}"
