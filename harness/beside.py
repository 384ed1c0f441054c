"""The runs beside the traced one: at native speed, fresh instances, bad frames, bursts, early ends.

They are made on threads of their own while the main one traces and analyses, so that two processors
share the work to its end. What they measure is exact whatever else the machine does.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness import early_close, error_runs, isolate, output_runs, screening
from harness.contract import Contract
from harness.early_close import EarlyClose
from harness.error_evidence import ErrorEvidence
from harness.flight import Position
from harness.output_runs import Computed
from harness.outputs import OutputEvidence
from harness.probes import trace
from harness.result import Failure
from harness.result_log import Group, read_log
from harness.screening import Screening
from harness.spec import RESULTS, TRACE, Outcome, RunSpec

_FOR_REFERENCES_S = (0.75, 10.0)
"""at least and at most"""
_LEAST_PATIENCE_S = 2.0
_SHARE_FOR_REFERENCES = 10
"""of the traced run's time, one part of so many"""


class CancelledError(Exception):
    """Nobody waits for these runs any more."""


@dataclass(frozen=True)
class Beside:
    """What the runs beside the traced one have shown."""

    failure: Failure | None = None
    """of the run at native speed; the other runs are not made then"""
    screening: Screening | None = None
    results: tuple[Group, ...] | None = None
    """of the run at native speed"""
    outputs: OutputEvidence | None = None
    """those results held against references, once somebody has done that"""
    errors: ErrorEvidence | None = None
    burst: int = 0
    inputs_alive: int | None = None
    early: EarlyClose = field(default_factory=EarlyClose)

    def joined(self, then: Afterwards, outputs: OutputEvidence) -> Beside:
        """With what was made afterwards, and what the results have shown."""
        burst = then.burst
        return replace(
            self,
            outputs=outputs,
            burst=burst.burst if burst else 0,
            inputs_alive=burst.inputs_alive if burst else None,
            early=then.early,
        )


class Runner:
    """Runs children one after the other, until it is cancelled."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Begin no further run."""
        self._cancelled.set()

    @contextmanager
    def __call__(self, spec: RunSpec, patience_s: float | None = None) -> Iterator[isolate.Ended]:
        """Run one child; raises CancelledError instead once it is cancelled.

        With `patience_s`, it hangs if it makes no progress for so long, if that is shorter.
        """
        if self._cancelled.is_set():
            raise CancelledError
        timeout = self._timeout if patience_s is None else min(patience_s, self._timeout)
        with isolate.run(spec, timeout, warm_up) as ended:
            yield ended


def warm_up(at: Position, folder: Path) -> None:
    """What is done while a child runs: the reader of its trace, if it writes one, is warmed up."""
    if at.frame > 0 and (folder / TRACE).exists():
        trace.warm_up(folder / TRACE)


def measure(
    spec: RunSpec, contract: Contract, owners: Sequence[tuple[str, str]], run: Runner
) -> Beside:
    """Make the runs that go with the traced run of `spec`. Raises CancelledError."""
    screen = msgspec.structs.replace(spec, instrument="screen", digests=True)
    with run(screen) as ended:
        if ended.failure is not None or ended.outcome is None or ended.outcome.usage_error:
            return Beside(failure=ended.failure)
        outcome = ended.outcome
        samples = screening.read(ended.folder, contract.steps(outcome), spec.cycles)
        results = tuple(read_log(ended.folder / RESULTS))
    errors = error_runs.gather(spec, run, owners=owners)
    return Beside(screening=samples, results=results, errors=errors)


def _burst(spec: RunSpec, outcome: Outcome, run: Runner) -> Outcome | None:
    """What a backend that has declared its requests does with a burst of frames."""
    if outcome.nireq is None:
        return None
    with run(msgspec.structs.replace(spec, instrument="burst"), _patience(outcome)) as ended:
        return ended.outcome if ended.failure is None else None


def _patience(outcome: Outcome) -> float:
    """Seconds after which `execute` waits for more than a request: that a result is taken.

    As long as all cycles of the workload took. Whether or not it is told how many frames it keeps
    in a burst, no more is waited for.
    """
    return max(_LEAST_PATIENCE_S, outcome.measured_s)


class Afterwards(NamedTuple):
    """What the runs have shown that are made when the traced one is done."""

    burst: Outcome | None
    computed: Computed
    early: EarlyClose


def measure_after(
    spec: RunSpec,
    contract: Contract,
    owners: Sequence[tuple[str, str]],
    outcome: Outcome,
    run: Runner,
) -> Afterwards:
    """Make these runs. `outcome` is the traced run's. Raises CancelledError."""
    spec = msgspec.structs.replace(spec, budget_s=_for_references(outcome.measured_s))
    return Afterwards(
        _burst(spec, outcome, run),
        output_runs.compute(spec, run),
        early_close.gather(spec, contract, run, owners),
    )


def _for_references(measured_s: float) -> float:
    """Seconds of processor time: enough for all frames of a short workload, little of a long one's.

    The frames that differ most from those before come first.
    """
    least, most = _FOR_REFERENCES_S
    return min(max(least, measured_s / _SHARE_FOR_REFERENCES), most)
