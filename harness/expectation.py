"""What a backend says it must hold, against what it holds: bytes in buffers, after each step.

Only blocks of a page or more are compared. Beside those a backend has views, handles and queues,
which no closed form of its frames tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import index
from typing import Any

from backend.protocol import Shape
from harness.errors import UsageError
from harness.owners import BACKEND
from harness.plan import PlannedStep
from harness.result import Expectation, Step
from harness.timeline import PAGE, Timeline
from harness.workload import Workload

STATEMENT = "expected_blocks"
"""the factory's attribute, see `backend.protocol.Factory`"""


def stated(
    factory: Callable[..., Any],
    options: Mapping[str, Any],
    workload: Workload,
    steps: Iterable[PlannedStep],
) -> tuple[int, ...] | None:
    """What a factory says of each step; None if it says nothing. Raises UsageError for nonsense."""
    state = getattr(factory, STATEMENT, None)
    if state is None:
        return None
    bursts = shapes_of_steps(workload, steps)
    try:
        blocks = state(bursts, **options)
        if blocks is None:
            return None
        found = tuple(sum(index(size) for size in each if size >= PAGE) for each in blocks)
    except Exception as error:
        raise UsageError(
            f"{STATEMENT} of the factory raised {type(error).__name__}: {error}; for each step it "
            "must give the sizes of all blocks, in whole bytes"
        ) from error
    if len(found) != len(bursts):
        raise UsageError(
            f"{STATEMENT} of the factory gave the blocks of {len(found):,} steps: give those of "
            f"each of the {len(bursts):,} steps"
        )
    return found


def shapes_of_steps(workload: Workload, steps: Iterable[PlannedStep]) -> list[list[Shape]]:
    """The shapes of the frames of each step. `workload` has a format in every segment."""
    shapes = [(s.format or "", s.width, s.height) for s in workload.segment_of_each_frame()]
    return [shapes[step.first : step.last + 1] for step in steps]


def against(timeline: Timeline, expected: tuple[int, ...]) -> Expectation:
    """What is expected of each step of a cycle, and measured, over the steps of all cycles."""
    held = timeline.live_buffers(BACKEND)
    positions = [timeline.intervals[number].step for number in timeline.steps]
    return Expectation(
        tuple(expected[step.index] for step in positions if step is not None),
        tuple(held[number] for number in timeline.steps),
    )


def difference(expectation: Expectation, steps: tuple[Step, ...]) -> str:
    """Where the two differ first, and by how much, in a sentence; nothing if they nowhere do."""
    excess = [
        measured - expected
        for measured, expected in zip(expectation.measured, expectation.expected, strict=True)
    ]
    differing = [position for position, bytes_more in enumerate(excess) if bytes_more]
    if not differing:
        return ""
    at = differing[0]
    step, most = steps[at], max((excess[position] for position in differing), key=abs)
    return (
        f"the backend's buffers are not what it says they must be: first at step {step.index} of "
        f"cycle {step.cycle} ({step.width}x{step.height}) they hold "
        f"{expectation.measured[at]:,} bytes, {_more(excess[at])} than expected; that is so at "
        f"{len(differing):,} of {len(steps):,} steps, with {_more(most)} at most"
    )


def _more(count: int) -> str:
    return f"{abs(count):,} {'more' if count > 0 else 'fewer'}"
