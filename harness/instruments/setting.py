"""What every instrument is given: a backend to open, frames to feed it, and where to write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from backend.protocol import Backend
from harness.driver import Driver
from harness.flight import FlightRecorder, map_file
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

    def driver(self, mark: Callable[[], None]) -> Driver:
        """A driver of this run's workload, `mark` being called at each interval's end."""
        journal = map_file(self.folder / JOURNAL, 8 * len(self.steps) * self.spec.cycles)
        return Driver(
            self.open_backend,
            self.source,
            self.steps,
            self.recorder,
            mark,
            memoryview(journal).cast("q"),
            self.spec.patience_s,
        )
