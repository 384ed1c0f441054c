"""When each step of a report came, on the virtual clock of its workload."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from harness.errors import UsageError
from harness.plan import TICKS_PER_SECOND, ticks
from harness.result import Report, Step
from harness.workload import Workload


def seconds(report: Report) -> list[float] | None:
    """The tick of each step of all cycles, one cycle after the other.

    None if the workload's text does not say: that of a run that broke off early is empty.
    """
    try:
        workload = Workload.parse(report.workload)
    except UsageError:
        return None
    frames = max((step.frames[1] for step in report.steps), default=-1) + 1
    of_frame = list(islice(ticks(workload), frames))
    if len(of_frame) < frames or any(step.frames[0] < 0 for step in report.steps):
        return None
    return _over_cycles(report.steps, of_frame)


def _over_cycles(steps: Sequence[Step], of_frame: Sequence[int]) -> list[float]:
    times: list[float] = []
    start, latest = 0, -1
    cycle = steps[0].cycle if steps else 0
    for step in steps:
        if step.cycle != cycle:
            cycle, start = step.cycle, latest + 1
        latest = start + of_frame[step.frames[0]]
        times.append(latest / TICKS_PER_SECOND)
    return times
