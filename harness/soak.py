"""Soak runs: the workload again and again in one cycle, screened at each step at native speed.

Bytes that grow slowly show in a long run and in no short one. What grows is then named as ever: the
same deterministic workload once more, up to where it grows, and from there under a tracer.
"""

from __future__ import annotations

import mmap
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from harness.contract import Contract
from harness.flight import Position
from harness.isolate import Ended
from harness.naming import Named, Namer, growth_result
from harness.plan import PlannedStep
from harness.probes.heap import FIELDS
from harness.result import Failure, RuleResult
from harness.screening import Screening, find, read, taken
from harness.spec import SAMPLES, Lateness, RunSpec
from harness.timeline import layout

CURVE_POINTS = 60
"""how many values the live curve has at the most"""

Watch = Callable[[Position, Path], None]
RunWatched = Callable[[RunSpec, Watch], AbstractContextManager[Ended]]
"""Runs a child, calling what watches it: `lambda spec, watch: isolate.run(spec, timeout, watch)`"""


class SoakProgress(msgspec.Struct, frozen=True):
    """Where a soak run is, for a display."""

    phase: str
    """one of harness.flight.PHASES, then "name" while what grows is named"""
    frame: int
    """frames submitted"""
    frames: int
    """frames of the whole run; 0 while unknown"""
    frames_per_second: float
    """since the first frame; 0 while unknown"""
    curve: tuple[int, ...]
    """bytes of heap at step ends, from the start until now, evenly spaced: CURVE_POINTS or fewer"""


class Soak(msgspec.Struct, frozen=True):
    """What a soak run has shown."""

    frames: int
    """frames that were fed; what was planned if the run came to its end"""
    measured_s: float
    """seconds from opening to closing"""
    lateness: Lateness | None
    """of a run in real time"""
    rule: RuleResult
    """of `steady-growth`; "skipped" if the run broke off or has too few steady steps"""
    curves: dict[str, tuple[int, ...]]
    """for each of harness.probes.heap.FIELDS: CURVE_POINTS values or fewer, evenly spaced"""
    environment: dict[str, object]
    notes: tuple[str, ...]
    failure: Failure | None = None


def soak(
    spec: RunSpec,
    frames: int,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
    run: RunWatched,
    tell: Callable[[SoakProgress], None],
) -> Soak:
    """Feed at least so many frames to a backend, whole passes of the workload, and judge growth.

    `spec` says what to run; its instrument, cycles and frames are set here. Raises UsageError for
    more frames than a workload may have.
    """
    spec = msgspec.structs.replace(
        spec, instrument="screen", cycles=1, least_frames=frames, digests=False
    )
    with run(spec, _Watcher(tell)) as ended:
        outcome = ended.outcome
        if ended.failure is not None or outcome is None:
            return _broken_off(ended)
        steps = contract.steps(outcome)
        screening = read(ended.folder, steps, cycles=1)
    tell(SoakProgress("name", steps[-1].last + 1, steps[-1].last + 1, 0, ()))
    spec = msgspec.structs.replace(spec, real_time=False)  # whoever grows does so at any speed
    namer = Namer(spec, layout(1, steps), owners, lambda again: run(again, _ignore))
    named = [namer.name(growth) for growth in find(screening)]
    return Soak(
        frames=steps[-1].last + 1,
        measured_s=outcome.measured_s,
        lateness=outcome.lateness,
        rule=_rule(steps, named),
        curves={field: thinned(screening.boundaries(field, 1)) for field in FIELDS},
        environment=outcome.environment,
        notes=outcome.notes,
    )


def _rule(steps: Sequence[PlannedStep], named: Sequence[Named]) -> RuleResult:
    steady = sum(step.phase == "steady" for step in steps)
    if not steady:
        why = "the workload has no steady step: every frame is within a warm-up"
        return RuleResult("steady-growth", "skipped", 0, 0, why)
    return growth_result("steady-growth", named, f"bytes added over {steady:,} steady steps")


def _broken_off(ended: Ended) -> Soak:
    outcome, failure = ended.outcome, ended.failure
    path = ended.folder / SAMPLES
    samples = array("q", path.read_bytes() if path.exists() else b"")
    seen = Screening(samples, (), 0).taken
    return Soak(
        frames=failure.frame + 1 if failure else 0,
        measured_s=outcome.measured_s if outcome else 0.0,
        lateness=outcome.lateness if outcome else None,
        rule=RuleResult("steady-growth", "skipped", 0, 0, "the run broke off"),
        curves={
            field: thinned(samples[n : seen * len(FIELDS) : len(FIELDS)])
            for n, field in enumerate(FIELDS)
        },
        environment=outcome.environment if outcome else {},
        notes=outcome.notes if outcome else (),
        failure=failure,
    )


def thinned(values: Sequence[int]) -> tuple[int, ...]:
    """At most CURVE_POINTS of these values, evenly spaced, the last one included."""
    stride = max(1, -(-len(values) // CURVE_POINTS))
    return tuple(values[::-stride][::-1])


class _Watcher:
    """Called now and then while the child runs: reads how far it is and what it has sampled."""

    def __init__(self, tell: Callable[[SoakProgress], None]) -> None:
        self._tell = tell
        self._first: tuple[float, int] | None = None
        self._samples: memoryview | None = None

    def __call__(self, at: Position, folder: Path) -> None:
        """Tell of this moment."""
        now = time.monotonic()
        rate = 0.0
        if at.frame >= 0 and at.cycle:
            if self._first is None:
                self._first = (now, at.frame)
            elif now > self._first[0]:
                rate = (at.frame - self._first[1]) / (now - self._first[0])
        self._tell(SoakProgress(at.phase, at.frame + 1, at.frames, rate, self._curve(folder)))

    def _curve(self, folder: Path) -> tuple[int, ...]:
        if self._samples is None and not (self._map(folder / SAMPLES)):
            return ()
        assert self._samples is not None
        width = len(FIELDS)
        return thinned(self._samples[: taken(self._samples) * width : width])

    def _map(self, path: Path) -> bool:
        if not path.exists() or not path.stat().st_size:
            return False
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._samples = memoryview(mapped).cast("q")
        return True


def _ignore(at: Position, folder: Path) -> None:
    pass
