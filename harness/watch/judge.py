"""From what was seen of a process to the report on it."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from harness.result import Verdict
from harness.watch import drift
from harness.watch.drift import Drift
from harness.watch.heaptrack import Site
from harness.watch.result import SCHEMA, Trend, Watched
from harness.watch.sample import Sample
from harness.watch.session import Seen
from harness.words import plural

_VERDICTS: dict[drift.Course, Verdict] = {
    "level": "pass",
    "rising": "fail",
    "settling": "no-verdict",
}


def judged(
    seen: Seen,
    *,
    watched: str,
    fps: float | None = None,
    sites: Sequence[Site] = (),
    notes: Sequence[str] = (),
) -> Watched:
    """The report."""
    end = _end_of_watch(seen)
    steady = seen.samples[:end]
    notes = [*notes, *(f"{name} may not be read, and is left out" for name in seen.unreadable)]
    found = None
    if seen.ending != "no-permission" and len(steady) >= drift.LEAST_SAMPLES:
        found = drift.judge([s.at for s in steady], [s.memory for s in steady])
    return Watched(
        schema=SCHEMA,
        verdict=_VERDICTS[found.course] if found else "no-verdict",
        why=_why(found) if found else _too_little(seen, end),
        watched=watched,
        ending=_ending(seen),
        exit_code=seen.exit_code,
        interval=seen.interval,
        false_alarms=drift.FALSE_ALARMS,
        trend=_trend(found, fps) if found else None,
        start=found.start if found else 0,
        end=end,
        samples=tuple(seen.samples),
        fps=fps,
        sites=tuple(sites),
        notes=tuple(notes),
    )


def _end_of_watch(seen: Seen) -> int:
    """Number after the last sample that counts: as a process ends, it gives its memory back."""
    samples: Sequence[Sample] = seen.samples
    end = len(samples)
    if seen.ending == "ended":
        while end > 1 and samples[end - 1].memory < samples[end - 2].memory:
            end -= 1
    return end


def _why(found: Drift) -> str:
    if found.course == "rising":
        return "its memory goes on rising after the start-up"
    if found.course == "settling":
        return (
            "its memory still rises, but more and more slowly: it may be settling; "
            "watch it for longer"
        )
    return "no drift of its memory was found after the start-up"


def _too_little(seen: Seen, samples: int) -> str:
    if seen.ending == "no-permission":
        return seen.reason
    return (
        f"{_ending(seen)} after {plural(samples, 'sample')}, {drift.LEAST_SAMPLES} are needed: "
        "watch it for longer, or with a shorter --interval"
    )


def _ending(seen: Seen) -> str:
    if seen.ending == "duration":
        return "the time was over"
    if seen.ending == "interrupted":
        return "the watch was interrupted"
    if seen.ending == "no-permission":
        return "it may not be read"
    if seen.exit_code is None:
        return "the process ended"
    if seen.exit_code < 0:
        return f"the command was ended by {_signal_name(-seen.exit_code)}"
    return f"the command ended with exit code {seen.exit_code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _trend(found: Drift, fps: float | None) -> Trend:
    rates = (found.rate, found.low, found.high)
    return Trend(
        growth=found.growth,
        per_second=found.rate,
        low=found.low,
        high=found.high,
        confidence=drift.CONFIDENCE,
        p=found.p,
        later_p=found.later_p,
        per_frame=tuple(rate / fps for rate in rates) if fps else None,  # type: ignore[arg-type]
    )
