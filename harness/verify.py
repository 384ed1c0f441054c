"""verify(factory, workload, contract) -> Report: the one detector that all adapters call."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from harness import isolate, targets
from harness.contract import Contract
from harness.errors import UsageError
from harness.flight import Position, failure
from harness.owners import Owners
from harness.plan import plan_steps
from harness.probes import trace
from harness.reading import build
from harness.result import Cost, Failure, Level, Report, RuleResult, Step, Teardown, Verdict
from harness.rules import RULES, steady_growth
from harness.rules.teardown_release import first_use
from harness.spec import TRACE, RunSpec, read_journal
from harness.timeline import Interval, Timeline, layout
from harness.workload import SCENARIOS, Workload

SCHEMA = 1
DEFAULT_SCENARIO = "concat-jump"


class Progress(msgspec.Struct, frozen=True):
    """Where a run is, for a display."""

    phase: str
    """one of harness.flight.PHASES, then "analyse" """
    cycle: int
    """from 1"""
    cycles: int
    frame: int
    """frames submitted in this cycle"""
    frames: int
    """frames of one cycle; 0 while unknown"""


def verify(
    factory: str | Callable[..., Any],
    workload: Workload | str | None = None,
    *,
    video: Path | None = None,
    level: Level = "zero-owned",
    cycles: int = 3,
    warmup: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    timeout: float = isolate.DEFAULT_TIMEOUT,
    progress: Callable[[Progress], None] | None = None,
) -> Report:
    """Run a workload through a backend in a fresh process and hold it to a contract.

    `factory` is a target (`package.module:factory`, `path/file.py:factory`, or a short name) or a
    callable that can be imported by its name. `timeout` is in seconds without any progress.
    Raises UsageError for what the caller can mend: a target that doesn't import, a video that
    doesn't decode.
    """
    started = time.monotonic()
    isolate.prestart()
    target = factory if isinstance(factory, str) else _name_of(factory)
    if isinstance(workload, str) or workload is None:
        workload = Workload.named_or_parsed(workload or DEFAULT_SCENARIO)
    spec = RunSpec(
        target=targets.resolve(target),
        options=dict(options or {}),
        workload=None if video else str(workload),
        video=str(Path(video).absolute()) if video else None,
        cycles=cycles,
        instrument="trace",
        seed=seed,
        patience_s=timeout / 2,
        sys_path=tuple(os.path.abspath(part) for part in sys.path),
        cwd=os.getcwd(),
    )
    contract = Contract(level, warmup)
    report = Report(
        schema=SCHEMA,
        verdict="no-verdict",
        level=level,
        target=target,
        workload="" if video else str(workload),
        seed=seed,
        rules=(),
        steps=(),
        teardown=Teardown({}, {}),
        cost=Cost(0, 0),
        environment={},
        replay=_replay(spec, target, contract, owners),
        cycles=cycles,
    )
    tell = progress or _tell_nobody
    with isolate.run(spec, timeout, _watch(tell, cycles)) as ended:
        if ended.outcome and ended.outcome.usage_error:
            raise UsageError(ended.outcome.usage_error)
        report.failure = ended.failure
        tell(Progress("analyse", cycles, cycles, 0, 0))
        events = _judge(report, ended, contract, owners)
    report.cost = Cost(round(time.monotonic() - started, 3), events)
    return report


def _judge(
    report: Report,
    ended: isolate.Ended,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
) -> int:
    """Fill in what was measured and what the rules say of it; the number of trace records."""
    outcome = ended.outcome
    if outcome is None or not (ended.folder / TRACE).exists():
        return 0
    report.workload = outcome.workload
    report.environment = outcome.environment
    report.notes = outcome.notes
    plan = plan_steps(
        Workload.parse(outcome.workload),
        contract.warmup_frames(outcome.nireq),
        outcome.default_format,
    )
    intervals = layout(report.cycles, plan)
    timeline = build(
        trace.read(ended.folder / TRACE), intervals, Owners(owners, outcome.target_root)
    )
    timeline.in_flight = read_journal(ended.folder)
    timeline.resources = (outcome.baseline, *outcome.cycle_ends)
    timeline.garbage = outcome.garbage
    report.steps = tuple(_steps(timeline))
    after = outcome.cycle_ends[-1] if outcome.cycle_ends else {}
    report.teardown = Teardown(outcome.baseline, after)
    if report.failure is None and len(timeline.intervals) < len(intervals):
        report.failure = _unmeasurable(intervals[len(timeline.intervals)])
    if report.failure is None:
        report.teardown = Teardown(outcome.baseline, after, first_use(timeline))
        report.notes += steady_growth.notes(timeline)
        report.rules = tuple(rule(timeline, contract) for rule in RULES.values())
        report.verdict = _verdict(report.rules)
    return timeline.events


def _unmeasurable(lost: Interval) -> Failure:
    """A run that came to its end, but whose trace did not."""
    at = Position("measure", lost.cycle, lost.step.last if lost.step else -1, 0)
    text = (
        "the trace of allocations broke off, as it does when a backend closes descriptors that "
        "are not its own, or calls sys.setprofile"
    )
    return failure("unmeasurable", text, at, "")


def _verdict(rules: Sequence[RuleResult]) -> Verdict:
    return "fail" if any(rule.status == "fail" for rule in rules) else "pass"


def _steps(timeline: Timeline) -> list[Step]:
    live = [timeline.live(owner) for owner in timeline.owners]
    steps = []
    for position, number in enumerate(timeline.steps):
        interval, by_owner = timeline.intervals[number], timeline.by_owner(number)
        assert interval.step is not None
        steps.append(
            Step(
                cycle=interval.cycle,
                index=interval.step.index,
                frames=(interval.step.first, interval.step.last),
                width=interval.step.width,
                height=interval.step.height,
                phase=interval.step.phase,
                allocations=sum(count.allocations for count in by_owner.values()),
                bytes=sum(count.bytes for count in by_owner.values()),
                by_owner=by_owner,
                live_bytes=sum(boundary[number] for boundary in live),
                in_flight=timeline.in_flight[position],
            )
        )
    return steps


def _tell_nobody(progress: Progress) -> None:
    pass


def _watch(tell: Callable[[Progress], None], cycles: int) -> Callable[[Position, Path], None]:
    """What is done while a child runs: its position is passed on, and the reader warmed up."""

    def watch(at: Position, folder: Path) -> None:
        tell(Progress(at.phase, at.cycle, cycles, at.frame + 1, at.frames))
        if at.frame > 0:
            trace.warm_up(folder / TRACE)

    return watch


def _name_of(factory: Callable[..., Any]) -> str:
    """The target that a callable can be imported by in another process."""
    module, name = factory.__module__, factory.__qualname__
    if "<locals>" in name or "<lambda>" in name:
        raise UsageError(
            f"{name} is defined inside a function, so that a fresh process can't import it; "
            "move it to the top of its module"
        )
    if module == "__main__":
        main = sys.modules["__main__"]
        if not getattr(main, "__file__", None):
            raise UsageError(f"{name} was typed in, so that a fresh process can't import it")
        return f"{Path(str(main.__file__)).absolute()}:{name}"
    return f"{module}:{name}"


def _replay(
    spec: RunSpec, target: str, contract: Contract, owners: Sequence[tuple[str, str]]
) -> str:
    """The command that does this again."""
    words = ["steadyframe", "verify", target]
    if spec.video:
        words += ["--video", spec.video]
    elif spec.workload:
        named = {str(workload): name for name, workload in SCENARIOS.items()}
        words += ["--workload", named.get(spec.workload, spec.workload)]
    words += ["--level", contract.level, "--cycles", str(spec.cycles)]
    if contract.warmup is not None:
        words += ["--warmup", str(contract.warmup)]
    if spec.seed:
        words += ["--seed", str(spec.seed)]
    for name, value in spec.options.items():
        words += ["--arg", f"{name}={value}"]
    for owner, glob in owners:
        words += ["--owner", f"{owner}={glob}"]
    return shlex.join(words)
