"""A soak run as a report: one cycle of many frames at native speed, judged for growth alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from harness import given, isolate, preconditions, targets
from harness.contract import Contract
from harness.errors import UsageError
from harness.flight import Position
from harness.replay import replay
from harness.report.text import sparkline
from harness.request import blank_report, request
from harness.result import Cost, Progress, Report
from harness.soak import Soak, SoakProgress, soak
from harness.spec import RunSpec
from harness.workload import Workload

_CURVE = 20
"""characters of the live curve"""


def verify_soak(
    factory: str | Callable[..., Any],
    frames: int,
    workload: Workload | str | None = None,
    *,
    video: Path | None = None,
    real_time: bool = False,
    warmup: int | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    timeout: float = isolate.DEFAULT_TIMEOUT,
    memory_limit: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    methods: Mapping[str, str] | None = None,
) -> Report:
    """Feed at least so many frames to a backend, whole passes of the workload, and look for growth.

    Growth is all that is judged: the level is zero-growth, whatever the frames allocate and free.
    In `real_time` frames are submitted when they would arrive, and it is told how many were late.
    Arguments and errors are those of `harness.verify.verify`.
    """
    started = time.monotonic()
    preconditions.require()
    owners = given.owners(owners)
    isolate.prestart()
    shown = factory if isinstance(factory, str) else targets.name_of(factory)
    if shown is None:
        assert not isinstance(factory, str)
        raise UsageError(
            "a soak run judges the heap, which takes a fresh process, and none can import "
            f"{targets.description(factory)}: move it to the top of its module"
        )
    spec = request(
        targets.resolve(shown),
        workload,
        video=video,
        cycles=1,
        seed=seed,
        options=options,
        stateful=False,
        timeout=timeout,
        memory_limit=memory_limit,
        methods=methods,
    )
    spec = msgspec.structs.replace(spec, real_time=real_time)
    contract = Contract("zero-growth", warmup)

    @contextmanager
    def run(spec: RunSpec, watch: Callable[[Position, Path], None]) -> Iterator[isolate.Ended]:
        with isolate.run(spec, timeout, watch) as ended:
            if ended.outcome and ended.outcome.usage_error:
                raise UsageError(ended.outcome.usage_error)
            yield ended

    def tell(at: SoakProgress) -> None:
        if progress is not None:
            more = f"{at.frames_per_second:,.0f} frames/s {sparkline(at.curve[-_CURVE:])}"
            progress(Progress(at.phase, 1, 1, at.frame, at.frames, more))

    done = soak(spec, frames, contract, owners, run, tell)
    report = blank_report(spec, shown, contract, replay(spec, shown, contract, owners, soak=frames))
    report.failure = done.failure
    report.rules = (done.rule,)
    report.environment = dict(done.environment)
    report.curves = done.curves
    report.notes = (*_speed(done), *done.notes)
    if done.failure is None:
        report.verdict = "fail" if done.rule.status == "fail" else "pass"
    report.cost = Cost(round(time.monotonic() - started, 3), 0)
    return report


def _speed(done: Soak) -> Iterator[str]:
    """How fast the frames went through, in sentences."""
    if not done.measured_s:
        yield f"{done.frames:,} frames"
        return
    rate = done.frames / done.measured_s
    yield f"{done.frames:,} frames in {done.measured_s:,.1f} s, {rate:,.0f} a second"
    if lateness := done.lateness:
        wanted = done.frames / lateness.wanted_s
        late = f"{lateness.late:,} frames were late"
        if lateness.late:
            late += f", by {lateness.most_s * 1000:,.0f} ms at the most"
        yield f"in real time they come at {wanted:,.1f} a second; {late}"
