"""inject(factory, workload) -> InjectReport: the runs, and what is made of them.

A child takes a batch of points, one after the other. When a point breaks something, or ends the
child, the rest of its batch goes on in a fresh one. If it was not the first, it is run once more in
a process of its own, so that its verdict is its own and no earlier point's.
"""

from __future__ import annotations

import shlex
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from harness import inherited, isolate, preconditions
from harness.error_runs import stack_in
from harness.errors import UsageError
from harness.flight import Position
from harness.inject import DEFAULT_LIMIT, DEFAULT_TIMEOUT, DEFAULT_WORKLOAD
from harness.inject.choice import Chosen, batches, choose, segments_of
from harness.inject.judge import taints
from harness.inject.points import (
    BASELINE,
    SEEN,
    Baseline,
    Break,
    Counted,
    Failing,
    Seen,
)
from harness.inject.report import SCHEMA, Broken, InjectReport
from harness.request import request
from harness.result import Failure
from harness.spec import RunSpec
from harness.workload import Workload

_ENDS = {"hung": "hang", "not-quiescent": "busy"}

Tell = Callable[[int, int], None]
"""called with the number of runs that are done, and of all"""


def inject(
    factory: str | Callable[..., Any],
    workload: Workload | str = DEFAULT_WORKLOAD,
    *,
    options: Mapping[str, Any] | None = None,
    methods: Mapping[str, str] | None = None,
    stateful: bool = False,
    everything: bool = False,
    timeout: float = DEFAULT_TIMEOUT,
    jobs: int = 1,
    limit: int = DEFAULT_LIMIT,
    tell: Tell = lambda done, total: None,  # noqa: ARG005 - a default that tells nobody
) -> InjectReport:
    """Have every operation of a run fail in turn, and see what becomes of it.

    `factory`, `options`, `methods` and `stateful` are those of `harness.verify.verify`. Of the
    operations at one stack some are taken (see harness.inject.choice), or all with `everything`.
    A run that makes no progress for `timeout` seconds hangs. So many children at a
    time as `jobs`; no point is begun when `limit` have broken something. Raises UsageError.
    """
    started = time.monotonic()
    preconditions.require()
    with inherited.reachable(factory, jobs) as (shown, target):
        spec = request(
            target,
            workload,
            video=None,
            cycles=1,
            seed=0,
            options=options,
            stateful=stateful,
            timeout=timeout,
            memory_limit=None,
            methods=methods,
        )
        spec = msgspec.structs.replace(spec, instrument="inject")
        again = _replay(spec, shown, everything=everything)
        report = InjectReport(SCHEMA, "no-verdict", shown, spec.workload or "", replay=again)
        try:
            _examine(report, spec, _Limits(timeout, jobs, limit), everything, tell)
        except UsageError:
            raise  # nothing else runs yet: helpers may stay
        except BaseException:
            isolate.shutdown()
            raise
    report.wall_s = round(time.monotonic() - started, 3)
    return report


@dataclass(frozen=True)
class _Limits:
    timeout: float
    jobs: int
    limit: int


def _examine(
    report: InjectReport, spec: RunSpec, limits: _Limits, everything: bool, tell: Tell
) -> None:
    baseline = _count(report, spec, limits.timeout)
    if baseline is None:
        return
    segments = segments_of(report.workload)
    due = tuple(
        first if first == second else None
        for first, second in zip(baseline.first.due, baseline.again.due, strict=False)
    )
    report.notes += tuple(_notes(baseline, due, len(segments)))
    chosen = choose(baseline, segments, everything)
    _describe(report, baseline, chosen)
    runner = _Runner(spec, baseline, due, limits, tell, len(chosen))
    with ThreadPoolExecutor(limits.jobs) as pool:
        shared = list(batches(chosen))
        seen = [each for batch in pool.map(runner.batch, shared) for each in batch]
    report.runs = len(seen)
    report.unreached = sum(not each.reached for _, each in seen)
    report.broken = tuple(_broken(one, each, baseline) for one, each in seen if each.breaks)
    report.stopped = len(seen) < len(chosen)
    if report.operations:  # else nothing was tested, and nobody may take that for a pass
        report.verdict = "fail" if report.broken else "pass"


def _count(report: InjectReport, spec: RunSpec, timeout: float) -> Baseline | None:
    """The run without a failure; None, with why in the report, if there is no going on from it."""
    with isolate.run(spec, timeout, _watch) as ended:
        if ended.outcome and ended.outcome.usage_error:
            raise UsageError(ended.outcome.usage_error)
        report.failure = ended.failure
        path = ended.folder / BASELINE
        if ended.failure is not None or not path.exists():
            return None
        report.workload = ended.outcome.workload if ended.outcome else report.workload
        return msgspec.json.decode(path.read_bytes(), type=Baseline)


def _notes(baseline: Baseline, due: Sequence[str | None], frames: int) -> Iterator[str]:
    if len(baseline.first.due) != len(baseline.again.due):
        yield "two runs without a failure gave results of another number"
    if None in due:
        yield (
            "results that differ from run to run, or that have no value, were not compared: "
            "a wrong one among them is not seen"
        )
    if len(due) != frames:
        yield (
            f"{frames} frames give {len(due)} results: which frame a failure may cost can't be "
            "told, so that lost frames are not seen"
        )


def _describe(report: InjectReport, baseline: Baseline, chosen: Sequence[Chosen]) -> None:
    report.operations = chosen[0].total if chosen else 0
    operations = {id(each.operation) for each in chosen}
    report.points = len(operations)
    report.stacks = len({each.operation.key for each in chosen})
    keys = {each.operation.key for each in chosen if each.first_use}
    once = [each for each in baseline.first.operations if each.key in keys]
    counts = Counter(each.kind for each in (*once, *baseline.again.operations))
    report.kinds = dict(sorted(counts.items()))


class _Runner:
    """Runs batches, on several threads."""

    def __init__(
        self,
        spec: RunSpec,
        baseline: Baseline,
        due: tuple[str | None, ...],
        limits: _Limits,
        tell: Tell,
        total: int,
    ) -> None:
        self._spec = spec
        self._first: Counted = baseline.first
        self._due = due
        self._limits = limits
        self._tell = tell
        self._total = total
        self._lock = threading.Lock()
        self._done = self._broken = 0

    def batch(self, batch: list[Chosen]) -> list[tuple[Chosen, Seen]]:
        """What became of each, until so many points have broken something that it is enough."""
        found: list[tuple[Chosen, Seen]] = []
        while len(found) < len(batch) and self._broken < self._limits.limit:
            rest = batch[len(found) :]
            seen = self._child(rest)
            if seen[-1].breaks and len(seen) > 1:
                alone = self._child(rest[len(seen) - 1 : len(seen)])[0]
                seen[-1] = alone if alone.breaks else _behind_others(seen[-1])
            found += zip(rest, seen, strict=False)
            self._count(seen)
        return found

    def _count(self, seen: Sequence[Seen]) -> None:
        with self._lock:
            self._done += len(seen)
            self._broken += any(each.breaks for each in seen)
            self._tell(self._done, self._total)

    def _child(self, chosen: Sequence[Chosen]) -> list[Seen]:
        """What a child saw of the first points: of one at the least, and of no more after a break.

        Raises RuntimeError if it ended before it came to a point.
        """
        failing = Failing(
            tuple(each.point for each in chosen),
            self._due,
            self._first.left,
            chosen[0].first_use,
        )
        spec = msgspec.structs.replace(self._spec, failing=failing)
        with isolate.run(spec, self._limits.timeout, _watch) as ended:
            path = ended.folder / SEEN
            lines = path.read_bytes().splitlines() if path.exists() else []
            failure = ended.failure
        seen = [msgspec.json.decode(line, type=Seen) for line in lines]
        if failure is not None and len(seen) < len(chosen):
            seen.append(Seen(True, (_ended(failure),)))
        if not seen:
            raise RuntimeError("a run that was to see a failure left nothing")
        return seen


def _behind_others(seen: Seen) -> Seen:
    return Seen(True, taints(seen.breaks, "behind failures elsewhere, not when alone"))


def _ended(failure: Failure) -> Break:
    """The break of a child that did not come to its end."""
    stack = stack_in(failure.detail)
    return Break(_ENDS.get(failure.kind, "crash"), failure.text, failure.frame, stack)


def _broken(chosen: Chosen, seen: Seen, baseline: Baseline) -> Broken:
    operation = chosen.operation
    return Broken(
        index=chosen.index,
        total=chosen.total,
        operation=operation.name,
        kind=operation.kind,
        lasting=chosen.point.lasting,
        first_use=chosen.first_use,
        thread=operation.thread,
        phase=operation.phase,
        frame=operation.frame,
        stack=baseline.stacks[operation.key],
        breaks=seen.breaks,
    )


def _replay(spec: RunSpec, target: str, *, everything: bool) -> str:
    words = ["steadyframe", "inject", target, "--workload", spec.workload or ""]
    words += [word for key, value in spec.options.items() for word in ("--arg", f"{key}={value}")]
    words += [word for key, name in spec.methods.items() for word in ("--map", f"{key}={name}")]
    words += ["--stateful"] * spec.stateful + ["--all"] * everything
    return shlex.join(words)


def _watch(at: Position, folder: Path) -> None:
    pass
