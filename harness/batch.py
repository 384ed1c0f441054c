"""verify_batch(factory, workloads) -> a report of each: many short runs for the price of a few.

All workloads are traced in one process, so that what a run costs whatever it measures is paid
once. That a backend is not alone in its process must not decide, though: what fails in a batch is
verified once more, in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness import given, isolate, preconditions
from harness.beside import Beside, Runner, warm_up
from harness.contract import Contract
from harness.errors import UsageError
from harness.filling import fill
from harness.inherited import reachable
from harness.judge import judge, may_be_held
from harness.naming import Namer
from harness.owners import Owners
from harness.probes import trace
from harness.reading import build_parts
from harness.replay import replay
from harness.request import blank_report, request
from harness.result import Cost, Level, Report
from harness.spec import TRACE, RunSpec, part_folder, read_outcome
from harness.timeline import Timeline, layout
from harness.verify import verify
from harness.workload import Workload

ONLY_IN_COMPANY = (
    "seen only behind other workloads in the same process; in a process of its own it passes"
)


def verify_batch(
    factory: str | Callable[..., Any],
    workloads: Sequence[Workload | str],
    *,
    level: Level = "zero-owned",
    cycles: int = 3,
    warmup: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    timeout: float = isolate.DEFAULT_TIMEOUT,
) -> list[Report]:
    """A report for each workload, in order, as `verify(..., quick=True)` gives it.

    Arguments and errors are those of `harness.verify.verify`. A workload that fails here, and
    passes in a process of its own, keeps its report from here, with a note that says so.
    """
    preconditions.require()
    given.items("workloads", workloads, '["8x8@25*9", "4x4@25*9"]')
    contract, owners = Contract(level, warmup), given.owners(owners)

    def alone(workload: Workload | str) -> Report:
        return verify(
            factory,
            workload,
            level=level,
            cycles=cycles,
            warmup=warmup,
            seed=seed,
            options=options,
            owners=owners,
            timeout=timeout,
            quick=True,
        )

    reports: list[Report] = []
    while len(reports) < len(workloads):
        before = len(reports)
        for part in measure(
            factory,
            workloads[before:],
            contract,
            cycles=cycles,
            seed=seed,
            options=options,
            owners=owners,
            timeout=timeout,
        ):
            number, report = len(reports), _judged(part, contract, owners, timeout)
            if report.verdict == "fail" and number > before:
                report = _with_company(report, alone(workloads[number]))
            reports.append(report)
        if len(reports) < len(workloads):
            # It broke off in this one: alone, it says why, and the rest goes on.
            reports.append(alone(workloads[len(reports)]))
    return reports


@dataclass(frozen=True)
class Part:
    """One workload of a batch that was measured to its end, and not yet judged."""

    spec: RunSpec
    """of the same workload in a run of its own"""
    timeline: Timeline
    report: Report


def measure(
    factory: str | Callable[..., Any],
    workloads: Sequence[Workload | str],
    contract: Contract,
    *,
    cycles: int = 3,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    timeout: float = isolate.DEFAULT_TIMEOUT,
) -> list[Part]:
    """Run a batch: the parts that came to their end, up to the first that did not.

    Raises UsageError.
    """
    with reachable(factory, 1) as (shown, target):
        specs = [
            request(
                target,
                workload,
                video=None,
                cycles=cycles,
                seed=seed,
                options=options,
                stateful=False,
                timeout=timeout,
                memory_limit=None,
            )
            for workload in workloads
        ]
        texts = tuple(str(spec.workload) for spec in specs)
        batch = msgspec.structs.replace(specs[0], instrument="batch", parts=texts)
        with isolate.run(batch, timeout, warm_up) as ended:
            if ended.outcome and ended.outcome.usage_error:
                raise UsageError(ended.outcome.usage_error)
            return list(_read(ended.folder, specs, shown, contract, owners))


def _read(
    folder: Path,
    specs: Sequence[RunSpec],
    shown: str,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
) -> Iterator[Part]:
    folders = [part_folder(folder, number) for number in range(len(specs))]
    outcomes = [outcome for one in folders if (outcome := read_outcome(one))]
    if not outcomes:
        return
    layouts = [layout(specs[0].cycles, contract.steps(outcome)) for outcome in outcomes]
    timelines = build_parts(
        trace.read(folder / TRACE),
        layouts,
        Owners(owners, outcomes[0].target_root),
        lambda seen: may_be_held(seen, contract),
    )
    for number, timeline in enumerate(timelines):
        spec = specs[number]
        again = replay(spec, shown, contract, owners, quick=True)
        report = blank_report(spec, shown, contract, again)
        fill(report, timeline, layouts[number], outcomes[number], folders[number])
        if report.failure is not None:
            return
        report.cost = Cost(0, timeline.events)
        yield Part(spec, timeline, report)


def _judged(
    part: Part, contract: Contract, owners: Sequence[tuple[str, str]], timeout: float
) -> Report:
    namer = Namer(part.spec, part.timeline.intervals, owners, Runner(timeout))
    judge(part.report, contract, part.timeline, Beside(), namer)
    return part.report


def _with_company(report: Report, alone: Report) -> Report:
    """The report of a workload that failed in a batch: the one from its own process, if it can."""
    if alone.verdict != "pass":
        return alone
    report.notes += (ONLY_IN_COMPANY,)
    return report
