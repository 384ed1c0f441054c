"""The pace of a run: as fast as it goes, or that of a real clock.

The driver's clock of 25 Hz is a virtual one. In real time the frames of a tick are submitted when
the tick is over, as all have arrived by then. They are late if their results are not in one tick
later, when the next ones are due.
"""

from __future__ import annotations

import time
from itertools import groupby, pairwise

from harness import plan
from harness.errors import UsageError
from harness.spec import Lateness
from harness.workload import Workload


class Pace:
    """As fast as it goes."""

    def begin(self) -> None:
        """A cycle's first step is next."""

    def wait(self, step: int) -> None:
        """Return when a step may begin."""

    def done(self, step: int, frames: int) -> None:
        """The results of so many frames of a step are in."""


class RealTime(Pace):
    """Holds each step back until its frames have arrived, and counts those that are late."""

    def __init__(self, workload: Workload, longest_s: float) -> None:
        """Raises UsageError if two steps are `longest_s` or more seconds apart: such a wait could
        not be told from a run that hangs."""
        ticks = [tick for tick, _ in groupby(plan.ticks(workload))]
        gaps = (later - earlier for earlier, later in pairwise((-1, *ticks)))
        widest = max(gaps) / plan.TICKS_PER_SECOND
        if widest >= longest_s:
            raise UsageError(
                f"in real time this workload waits {widest:g} s for a frame, which would be taken "
                f"for a hang: raise --timeout above {widest:g}, or leave out --pace"
            )
        self._ticks = ticks
        self._wanted_s = float(workload.duration)
        self._start = 0.0
        self._late = 0
        self._most_s = 0.0

    def begin(self) -> None:
        self._start = time.monotonic()

    def wait(self, step: int) -> None:
        left = self._due(step) - time.monotonic()
        if left > 0:
            time.sleep(left)

    def done(self, step: int, frames: int) -> None:
        delay = time.monotonic() - self._due(step) - 1 / plan.TICKS_PER_SECOND
        if delay > 0:
            self._late += frames
            self._most_s = max(self._most_s, delay)

    @property
    def lateness(self) -> Lateness:
        """What has been seen until now."""
        return Lateness(self._wanted_s, self._late, self._most_s)

    def _due(self, step: int) -> float:
        return self._start + (self._ticks[step] + 1) / plan.TICKS_PER_SECOND
