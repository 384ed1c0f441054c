"""verify(factory, workload, contract) -> Report: the one detector that all adapters call."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from harness import beside, flame, given, inherited, isolate, output_runs, preconditions
from harness.beside import Beside, Runner
from harness.contract import Contract
from harness.errors import UsageError
from harness.filling import fill, without_trace
from harness.flight import Position
from harness.judge import judge, may_be_held
from harness.naming import Namer
from harness.owners import Owners
from harness.probes import trace
from harness.reading import build
from harness.replay import replay
from harness.request import blank_report, request
from harness.result import Cost, Level, Progress, Report
from harness.spec import TRACE, RunSpec
from harness.timeline import Timeline, layout
from harness.workload import Workload


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
    stateful: bool = False,
    timeout: float = isolate.DEFAULT_TIMEOUT,
    memory_limit: int | None = None,
    quick: bool = False,
    progress: Callable[[Progress], None] | None = None,
    methods: Mapping[str, str] | None = None,
    again: str = "",
    flamegraph: Path | None = None,
) -> Report:
    """Run a workload through a backend in fresh processes and hold it to a contract.

    `factory` is a target (`package.module:factory`, `path/file.py:factory`, or a short name) or a
    callable. One that no fresh process can import, such as a closure, is run by forks of this one
    (see harness.inherited); `again` is how the report then says that it is to be done again.
    `methods` are its own names of the protocol's methods, such as {"execute": "infer"}.
    `timeout` is in seconds without any progress, `memory_limit` in bytes beyond what a run has at
    its start. `quick` makes the traced run alone: what takes others is skipped. `flamegraph` is a
    file to write memray's flame graph of the traced run to. Raises UsageError for what the caller
    can mend: a target that doesn't import, a video that doesn't decode.
    """
    started = time.monotonic()
    preconditions.require()
    owners = given.owners(owners)
    given.function("progress", progress, "progress=print")
    drawn = None if flamegraph is None else given.path("flamegraph", flamegraph)
    with inherited.reachable(factory, 1 if quick else 2) as (shown, target):
        spec = request(
            target,
            workload,
            video=video,
            cycles=cycles,
            seed=seed,
            options=options,
            stateful=stateful,
            timeout=timeout,
            memory_limit=memory_limit,
            methods=methods,
        )
        contract = Contract(level, warmup)
        again = replay(spec, shown, contract, owners, quick=quick, instead=again)
        report = blank_report(spec, shown, contract, again)
        tell = progress or _tell_nobody
        events = _measure(report, spec, contract, owners, timeout, tell, quick=quick, drawn=drawn)
    report.cost = Cost(round(time.monotonic() - started, 3), events)
    return report


def _measure(
    report: Report,
    spec: RunSpec,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
    timeout: float,
    tell: Callable[[Progress], None],
    *,
    quick: bool,
    drawn: Path | None,
) -> int:
    """Make the runs and fill in what they show; the number of trace records."""
    runner = Runner(timeout)
    with ThreadPoolExecutor(2) as aside:
        others = None if quick else aside.submit(beside.measure, spec, contract, owners, runner)
        afterwards = None
        try:
            with isolate.run(spec, timeout, _watch(tell, spec.cycles)) as ended:
                if ended.outcome and ended.outcome.usage_error:
                    raise UsageError(ended.outcome.usage_error)
                if others and ended.outcome and ended.failure is None:
                    # The traced run's processor is free now, while its trace is read here.
                    afterwards = aside.submit(
                        beside.measure_after, spec, contract, owners, ended.outcome, runner
                    )
                tell(Progress("analyse", spec.cycles, spec.cycles, 0, 0))
                timeline = _read(report, ended, contract, owners)
                if drawn is not None:
                    report.notes += flame.draw(ended.folder / TRACE, drawn)
            if timeline is not None and report.failure is None:
                tell(Progress("compare", spec.cycles, spec.cycles, 0, 0))
                shown = others.result() if others else Beside()
                if shown.results is not None and afterwards is not None:
                    then = afterwards.result()
                    outputs = output_runs.gather(spec, runner, shown.results, then.computed)
                    shown = shown.joined(then, outputs)
                screen = msgspec.structs.replace(spec, instrument="screen")
                threaded = ended.outcome is not None and ended.outcome.threads > 1
                plan = contract.steps if threaded else None
                namer = Namer(screen, timeline.intervals, owners, runner, plan)
                judge(report, contract, timeline, shown, namer)
        except UsageError:
            raise  # the run beside this one ends of it, too: helpers may stay
        except BaseException:
            isolate.shutdown()
            raise
        finally:
            runner.cancel()
    return timeline.events if timeline else 0


def _read(
    report: Report, ended: isolate.Ended, contract: Contract, owners: Sequence[tuple[str, str]]
) -> Timeline | None:
    """The timeline of a traced run, None if it left no trace; what is plainly told is filled in."""
    report.failure = ended.failure
    outcome = ended.outcome
    if outcome is None:
        return None
    if not (ended.folder / TRACE).exists():
        report.failure = report.failure or without_trace()
        return None
    intervals = layout(report.cycles, contract.steps(outcome))

    def needs_symbols(seen: Timeline) -> bool:
        held = may_be_held(seen, contract)
        if held:
            report.notes += preconditions.symbol_notes()
        return held

    timeline = build(
        trace.read(ended.folder / TRACE),
        intervals,
        Owners(owners, outcome.target_root),
        needs_symbols,
        outcome.mapped,
    )
    fill(report, timeline, intervals, outcome, ended.folder)
    return timeline


def _tell_nobody(progress: Progress) -> None:
    pass


def _watch(tell: Callable[[Progress], None], cycles: int) -> Callable[[Position, Path], None]:
    """What is done while the traced child runs: its position is passed on, besides."""

    def watch(at: Position, folder: Path) -> None:
        tell(Progress(at.phase, at.cycle, cycles, at.frame + 1, at.frames))
        beside.warm_up(at, folder)

    return watch
