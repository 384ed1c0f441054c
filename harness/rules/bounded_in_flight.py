"""bounded-in-flight: what a backend holds back does not go on rising, nor beyond its requests.

A pipeline holds a constant number of frames back, a batch holds more and more and then none: both
are bounded. Frames in flight rise without bound if, among steps with equally many frames, the
fewest and the most that are held in the second half of a cycle are more than in the first, and if
the last quarter still reaches a height of its own. A backend that returns nothing until flush
rises too: for a longer stream it needs more memory.

And in a burst a backend that says how many requests it has keeps no more input frames than these
can be at work on (see harness.instruments.burst).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from harness.contract import Contract
from harness.result import Finding, RuleResult
from harness.timeline import Interval, Timeline
from harness.words import plural

ID = "bounded-in-flight"
_INPUTS_PER_REQUEST = 2
"""Each request may refer to the frame it works on, and a worker still to the one before."""
_INPUTS_IN_HAND = 2
"""the frame that waits for a request, and one on its way out"""
_STEPS_NEEDED = 8
"""to tell a rise from a lag that has yet to be reached"""


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: the most frames that were submitted and not yet returned at a step's end."""
    if not timeline.steps or len(timeline.in_flight) < len(timeline.steps):
        return RuleResult(ID, "skipped", 0, 0, "no step came to its end")
    held = [
        (timeline.intervals[number], timeline.in_flight[position])
        for position, number in enumerate(timeline.steps)
    ]
    most = max(frames for _, frames in held)
    found = (_rise(held), _excess(held, timeline.nireq), _queue(timeline))
    findings = tuple(finding for finding in found if finding)
    limit = most if timeline.nireq is None else timeline.nireq + _lag(held)
    return RuleResult(
        ID,
        "fail" if findings else "pass",
        most,
        limit if not findings else max(0, min(limit, most - 1)),
        "frames submitted and not yet returned at the end of any step"
        + ("" if timeline.nireq is None else f"; {_has(timeline.nireq)}"),
        findings,
    )


def _has(nireq: int) -> str:
    return f"the backend has {plural(nireq, 'request')}"


_Held = list[tuple[Interval, int]]
"""(step, frames in flight at its end), in order"""


def _rise(held: _Held) -> Finding | None:
    """The first group of like steps over which the frames in flight rise."""
    for steps in _like_steps(held):
        frames = [count for _, count in steps]
        if _goes_on_rising(frames):
            return _finding(
                "unbounded-in-flight",
                steps,
                max(frames),
                f"{frames[0]:,} frames in flight after the first and {frames[-1]:,} after the last "
                f"of {len(frames):,} steps with as many frames each, and never back to fewer: it "
                "grows with the length of the stream (a batch of more frames than half the "
                "workload looks the same: give a longer one)",
            )
    return None


def _excess(held: _Held, nireq: int | None) -> Finding | None:
    """The steps that ended with more in flight than the backend has requests, beside its lag."""
    if nireq is None:
        return None
    lag = _lag(held)
    over = [(interval, count) for interval, count in held if count > nireq + lag]
    if not over:
        return None
    most = max(count for _, count in over)
    beside = f" and holds {lag:,} back throughout" if lag else ""
    words = f"{plural(most, 'frame')} in flight, though {_has(nireq)}{beside}"
    return _finding("in-flight-above-nireq", over, most, words)


def _queue(timeline: Timeline) -> Finding | None:
    """Input frames that pile up when they come faster than they are worked on."""
    nireq, alive = timeline.nireq, timeline.inputs_alive
    if nireq is None or alive is None or alive <= _INPUTS_PER_REQUEST * nireq + _INPUTS_IN_HAND:
        return None
    text = (
        f"{alive:,} of {timeline.burst:,} frames that were submitted without a wait were kept at "
        f"once, though {_has(nireq)}: execute queues them instead of blocking"
    )
    return Finding(
        owner="backend",
        file="",
        line=0,
        function="execute",
        frames=(),
        count=alive,
        bytes=0,
        cycle=0,
        stack=(),
        kind="unbounded-queue",
        text=text,
    )


def _like_steps(held: _Held) -> Iterator[_Held]:
    """The steps of each cycle by how many frames they hold: a larger burst may be held longer."""
    groups: dict[tuple[int, int], _Held] = defaultdict(list)
    for interval, count in held:
        assert interval.step is not None
        burst = interval.step.last - interval.step.first + 1
        groups[interval.cycle, burst].append((interval, count))
    yield from groups.values()


def _goes_on_rising(frames: list[int]) -> bool:
    if len(frames) < _STEPS_NEEDED:
        return False
    first, second = frames[: len(frames) // 2], frames[len(frames) // 2 :]
    before, end = frames[: -len(frames) // 4], frames[-len(frames) // 4 :]
    rises = min(second) > min(first) and max(second) > max(first)
    return rises and max(end) > max(before)


def _lag(held: _Held) -> int:
    """Frames held back on every step of the second half of the run."""
    return min(count for _, count in held[len(held) // 2 :])


def _finding(kind: str, steps: _Held, count: int, words: str) -> Finding:
    first, last = steps[0][0].step, steps[-1][0].step
    assert first is not None
    assert last is not None
    cycle = steps[0][0].cycle
    frames = sorted(
        {
            frame
            for interval, _ in steps
            if interval.step is not None and interval.cycle == cycle
            for frame in range(interval.step.first, interval.step.last + 1)
        }
    )
    where = (
        f"step {first.index}"
        if first.index == last.index
        else f"steps {first.index} to {last.index}"
    )
    return Finding(
        owner="backend",
        file="",
        line=0,
        function="get_result",
        frames=tuple(frames),
        count=count,
        bytes=0,
        cycle=cycle,
        stack=(),
        kind=kind,
        text=f"{where} of cycle {cycle}: {words}",
    )
