"""What every instrument is given: a backend to open, frames to feed it, and where to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.protocol import Backend
from harness.driver import Driver
from harness.flight import FlightRecorder, map_file
from harness.pace import Pace
from harness.plan import PlannedStep
from harness.source import FrameSource
from harness.spec import JOURNAL, Outcome, RunSpec


@dataclass(frozen=True)
class Setting:
    """One run, prepared."""

    spec: RunSpec
    folder: Path
    outcome: Outcome
    recorder: FlightRecorder
    open_backend: Callable[[], Backend]
    source: FrameSource
    steps: list[PlannedStep]

    def driver(
        self,
        mark: Callable[[], None],
        take: Callable[[Any], None] | None = None,
        pace: Pace | None = None,
    ) -> Driver:
        """A driver of this run's workload.

        `mark` is called at each interval's end, `take` with each result.
        """
        return self.driver_of(self.steps, mark, take, pace)

    def driver_of(
        self,
        steps: list[PlannedStep],
        mark: Callable[[], None],
        take: Callable[[Any], None] | None = None,
        pace: Pace | None = None,
    ) -> Driver:
        """A driver of the same frames in other steps."""
        journal = map_file(self.folder / JOURNAL, 8 * len(steps) * self.spec.cycles)
        return Driver(
            self.open_backend,
            self.source,
            steps,
            self.recorder,
            mark,
            memoryview(journal).cast("q"),
            self.spec.patience_s,
            take,
            pace,
        )
