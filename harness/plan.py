"""The steps of a workload: which frames arrive together, and what each step may allocate.

A virtual clock ticks at 25 Hz. Frame 0 arrives at time 0, every frame lasts 1/fps of its segment,
and a segment starts where the one before ended. The frames that arrive in [k/25, (k+1)/25) are one
step; a tick without frames is none. All of it is exact: whole numbers, no floats.

Phases of a step, the first that applies:

record   It needs more capacity than any step before: sorted by size in descending order, its k-th
         frame is larger than the k-th frame of every earlier step, for some k. That is a larger
         frame, or more frames at once than ever at that size. Step 0 is one. Size is measured in
         bytes and in samples: formats differ in which is larger.
warm-up  It holds one of the first `warmup` frames since a restart. The count restarts
         - at frame 0;
         - at a frame of another geometry, format or frame rate than the frame before it;
         - at the first frame of a step that holds more frames than any step since the restart
           before it. So 30 fps, whose steps hold 2, 1, 1, 1, 1 frames, becomes steady too.
steady   Any other.

A restart within a step belongs to that frame, not to the step: the frames before it still count
from the restart before, and of this step only the frames from the restart on count as the burst
that later steps are compared with. The step itself is warm-up (or record), as it holds the first
frame since a restart; a larger burst is then not looked for in it. With `warmup` 0 no step is
warm-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from operator import gt
from typing import TYPE_CHECKING

from backend.frame import PIXEL_FORMATS

if TYPE_CHECKING:
    from harness.result import Phase
    from harness.workload import Segment, Workload

TICKS_PER_SECOND = 25


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """The frames `first` to `last`, both included, with geometry (in pixels) and format of the last
    one."""

    index: int
    first: int
    last: int
    width: int
    height: int
    phase: Phase
    format: str = ""


def one_format(steps: Iterable[PlannedStep]) -> bool:
    """Whether all frames have the same format, as those of a stream do.

    What a backend holds for a frame, such as a view per plane, differs by format. Each of its slots
    changes over when it is next used, which looks like growth over changes of resolution.
    """
    return len({step.format for step in steps}) == 1


def plan_steps(workload: Workload, warmup: int, default_format: str) -> list[PlannedStep]:
    """Every step of the workload in order; together they hold every frame once.

    `warmup` is a number of frames, `default_format` the pixel format of segments that name none.
    """
    segments = list(workload.with_format(default_format).segment_of_each_frame())
    restarts = _Restarts(warmup)
    # A backend holds frames as they come, and as tensors, of one element per sample.
    in_bytes, in_samples = _Peaks(_frame_bytes), _Peaks(_frame_samples)
    steps = []
    for index, (first, last) in enumerate(_bursts(workload)):
        burst = segments[first : last + 1]
        before = segments[first - 1] if first else None
        # All follow every step, so no call may depend on another's answer.
        warming = restarts.warms_up(first, before, burst)
        larger, wider = in_bytes.raised_by(burst), in_samples.raised_by(burst)
        phase: Phase = "record" if larger or wider else "warm-up" if warming else "steady"
        end = burst[-1]
        assert end.format is not None, "every segment has a format by now"
        steps.append(PlannedStep(index, first, last, end.width, end.height, phase, end.format))
    return steps


def _bursts(workload: Workload) -> Iterator[tuple[int, int]]:
    """First and last frame of each step."""
    first = 0
    for _, together in groupby(ticks(workload)):
        last = first + sum(1 for _ in together) - 1
        yield first, last
        first = last + 1


def ticks(workload: Workload) -> Iterator[int]:
    """The tick, of 1/25 s, in which each frame arrives."""
    start = Fraction(0)
    for segment in workload.segments:
        # tick = floor(25 * (start + n / fps)), over one denominator so that the loop is in integers
        denominator = start.denominator * segment.fps.numerator
        origin = TICKS_PER_SECOND * start.numerator * segment.fps.numerator
        pitch = TICKS_PER_SECOND * segment.fps.denominator * start.denominator
        for numerator in range(origin, origin + segment.frames * pitch, pitch):
            yield numerator // denominator
        start += segment.frames / segment.fps


class _Restarts:
    """Follows where the count of warm-up frames last began."""

    def __init__(self, warmup: int) -> None:
        self._warmup = warmup
        self._since = 0
        self._largest_burst = 0

    def warms_up(self, first: int, before: Segment | None, burst: list[Segment]) -> bool:
        """Whether the step that begins with frame `first` is warm-up.

        `burst` are the segments of its frames, `before` that of the frame before, None for frame 0.
        To be called with every step in order.
        """
        restart = _last_change(before, burst)
        if restart is not None:
            self._since = first + restart
            self._largest_burst = len(burst) - restart
            return self._warmup > 0
        if len(burst) > self._largest_burst:
            self._since = first
            self._largest_burst = len(burst)
        return first - self._since < self._warmup


def _last_change(before: Segment | None, burst: list[Segment]) -> int | None:
    """Index of the last frame of the burst that begins something new, None if none does."""
    if before is burst[0] and before is burst[-1]:
        return None  # one segment throughout: nearly every step
    previous = before
    change = None
    for index, segment in enumerate(burst):
        if segment is not previous and (previous is None or _differ(segment, previous)):
            change = index
        previous = segment
    return change


def _differ(one: Segment, other: Segment) -> bool:
    return (one.width, one.height, one.format, one.fps) != (
        other.width,
        other.height,
        other.format,
        other.fps,
    )


class _Peaks:
    """The k-th largest frame of any step so far, by some measure of a frame, for every k."""

    def __init__(self, measure: Callable[[Segment], int]) -> None:
        self._measure = measure
        self._peaks: list[int] = []

    def raised_by(self, burst: list[Segment]) -> bool:
        """Whether the step needs more than any before. To be called with every step in order."""
        sizes = sorted(map(self._measure, burst), reverse=True)
        self._peaks.extend([0] * (len(sizes) - len(self._peaks)))
        if not any(map(gt, sizes, self._peaks)):
            return False
        self._peaks[: len(sizes)] = map(max, sizes, self._peaks)
        return True


def _frame_bytes(segment: Segment) -> int:
    assert segment.format is not None, "plan_steps gives every segment a format"
    return PIXEL_FORMATS[segment.format].nbytes(segment.width, segment.height)


def _frame_samples(segment: Segment) -> int:
    assert segment.format is not None, "plan_steps gives every segment a format"
    return segment.width * segment.height * PIXEL_FORMATS[segment.format].channels
