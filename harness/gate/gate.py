"""The gate: measure, then compare with the baseline or record into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeAlias

import msgspec

from harness import baseline
from harness.baseline import Baseline
from harness.config import FILE as FILE_OF_CASES
from harness.config import Config
from harness.errors import UsageError, meant
from harness.gate.case import Case
from harness.gate.compare import hold
from harness.gate.counts import Counts, counts
from harness.gate.fingerprint import Fingerprint, fingerprint
from harness.gate.measure import measure
from harness.gate.results import FILE, CaseResult, GateResult
from harness.report.files import check_writable, write
from harness.report.json import to_json
from harness.result import Report

Observer: TypeAlias = Callable[[CaseResult, Report, int], None]
"""is told of each case that is measured, its report, and of how many cases there are"""

UPDATE = "steadyframe gate --update"


@dataclass(frozen=True)
class Request:
    """What is asked of one run of the gate."""

    project: Config
    root: Path
    """folder of the project: files are named relative to it"""
    baseline: Path
    only: tuple[str, ...] = ()
    shard: tuple[int, int] = (1, 1)
    update: bool = False
    strict: bool = False
    jobs: int = 1
    output: Path | None = None


@dataclass
class _Measured:
    reports: dict[str, Report] = field(default_factory=dict)
    results: dict[str, CaseResult] = field(default_factory=dict)
    counts: dict[str, tuple[Fingerprint, Counts]] = field(default_factory=dict)


def run(request: Request, observe: Observer) -> tuple[GateResult, list[tuple[str, Report]]]:
    """Measure all cases that are asked for; what the gate says of them, and their reports.

    The current folder must be the project's. Raises UsageError.
    """
    declared = request.project.cases
    if not declared:
        file = request.project.path or request.root / FILE_OF_CASES
        raise UsageError(
            f"no cases are declared in {file}: add [[tool.steadyframe.cases]] there, and below it "
            'target = "mypackage.filters:open_filter" and workload = ["concat-jump", "burst"]; '
            f"then record them with `{UPDATE}`"
        )
    chosen = select(declared, request.only, request.shard)
    known = baseline.load(request.baseline)
    if known is None and not request.update:
        why = ("there is no such file: nothing can be compared",)
        missing = CaseResult(str(request.baseline), "missing", why=why, command=UPDATE)
        return _result(request, (missing,)), []
    _prepare(request)
    measured = _Measured()

    def done(case: Case, report: Report) -> None:
        result, report = _judge(request, known, case, report, measured)
        measured.reports[case.name], measured.results[case.name] = report, result
        if request.output is not None:
            write(request.output / f"{case.name}.json", to_json(report))
        observe(result, report, len(chosen))

    measure(chosen, request.project, request.baseline.parent, request.jobs, done)
    if request.update:
        recorded = [
            (case, *measured.counts[case.name]) for case in chosen if case.name in measured.counts
        ]
        baseline.record(request.baseline, recorded, {case.name for case in declared})
    results = [measured.results[case.name] for case in chosen]
    if known is not None and not request.update:
        results += _stale(known, declared, request)
    result = _result(request, tuple(results))
    if request.output is not None:
        write(
            request.output / FILE, msgspec.json.format(msgspec.json.encode(result)).decode() + "\n"
        )
    return result, [(case.name, measured.reports[case.name]) for case in chosen]


def select(declared: Sequence[Case], only: Sequence[str], shard: tuple[int, int]) -> list[Case]:
    """The cases that are asked for, in their order. Raises UsageError for a glob without any."""
    for glob in only:
        if not any(fnmatchcase(case.name, glob) for case in declared):
            hint = meant(glob, [case.name for case in declared])
            raise UsageError(f"no case is called {glob!r}: {hint}")
    chosen = [
        case for case in declared if not only or any(fnmatchcase(case.name, glob) for glob in only)
    ]
    part, parts = shard
    return chosen[part - 1 :: parts]


def _prepare(request: Request) -> None:
    """Know before anything is measured that its results can be written."""
    if request.output is not None:
        with suppress(OSError):  # check_writable says what is wrong with it
            request.output.mkdir(parents=True, exist_ok=True)
        check_writable(request.output / FILE)
    if request.update:
        with suppress(OSError):
            request.baseline.parent.mkdir(parents=True, exist_ok=True)
        check_writable(request.baseline)


def _judge(
    request: Request, known: Baseline | None, case: Case, report: Report, measured: _Measured
) -> tuple[CaseResult, Report]:
    if report.verdict == "no-verdict":
        why = report.failure.text if report.failure else "it could not be measured"
        return CaseResult(case.name, "no-verdict", why=(why,), command=report.replay), report
    here, found = fingerprint(report.environment), counts(report, request.root)
    measured.counts[case.name] = here, found
    if request.update:
        told: tuple[str, ...] = ()
        if found.verdict == "fail":
            told = (f"recorded though it violates {report.level}: {', '.join(found.rules)}",)
        return CaseResult(case.name, "recorded", why=told, holds=found.holds), report
    return hold(known or Baseline(), case, report, found, here, request.root)


def _stale(known: Baseline, declared: Sequence[Case], request: Request) -> list[CaseResult]:
    """Recorded cases that nothing declares: told once, by the first shard of a run of all."""
    if request.only or request.shard[0] != 1:
        return []
    names = {case.name for case in declared}
    why = ("the baseline has it, and no [[tool.steadyframe.cases]] declares it",)
    return [
        CaseResult(name, "stale", why=why, command=UPDATE)
        for name in known.cases
        if name not in names
    ]


def _result(request: Request, results: tuple[CaseResult, ...]) -> GateResult:
    return GateResult(results, request.strict, request.shard, str(request.baseline))
