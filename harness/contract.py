"""Levels and limits: what a run is held to."""

from __future__ import annotations

from dataclasses import dataclass

from harness import given
from harness.owners import BACKEND, OWN
from harness.plan import PlannedStep, plan_steps
from harness.result import Level
from harness.spec import Outcome
from harness.workload import Workload

WARMUP_FRAMES = 8
"""frames after each change of geometry or burst size in which allocation is allowed"""


@dataclass(frozen=True, slots=True)
class Contract:
    """A level, and the number of warm-up frames (None: as the backend's nireq asks for).

    Raises UsageError for what is none.
    """

    level: Level = "zero-owned"
    warmup: int | None = None

    def __post_init__(self) -> None:
        given.level(self.level)
        if self.warmup is not None:
            given.whole("warmup", self.warmup, 0)

    def warmup_frames(self, nireq: int | None) -> int:
        """Warm-up frames for a backend with so many requests: each is used twice, and two more."""
        if self.warmup is not None:
            return self.warmup
        return max(WARMUP_FRAMES, 2 * nireq + 2 if nireq else 0)

    def steps(self, outcome: Outcome) -> list[PlannedStep]:
        """The steps of a cycle as it was run, repeats included, with their phases."""
        workload = Workload.parse(outcome.workload).repeated(outcome.repeats)
        return plan_steps(workload, self.warmup_frames(outcome.nireq), outcome.default_format)

    def counts(self, owner: str) -> bool:
        """Whether an allocation by this owner on a steady step violates the level."""
        if self.level == "zero-growth":
            return False
        if self.level == "zero-owned":
            return owner == BACKEND
        return owner not in OWN
