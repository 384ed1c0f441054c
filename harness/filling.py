"""What a timeline says plainly, put into a report: its steps, and what was there at the end."""

from __future__ import annotations

from pathlib import Path

from harness import expectation, lacking
from harness.buffers import buffers
from harness.flight import Position, failure
from harness.result import Failure, Report, Step, Teardown
from harness.sites import sites
from harness.spec import Outcome, read_journal
from harness.timeline import Interval, Timeline


def fill(
    report: Report,
    timeline: Timeline,
    intervals: list[Interval],
    outcome: Outcome,
    folder: Path,
) -> None:
    """Complete a timeline with what the child left in `folder`, and the report with both.

    `intervals` are those of a complete run: a trace with fewer of a run that came to its end is a
    failure.
    """
    report.workload = outcome.workload
    report.environment = outcome.environment
    report.notes = (*outcome.notes, *report.notes)
    timeline.in_flight = read_journal(folder)
    timeline.nireq = outcome.nireq
    if outcome.threads > 1:
        lacking.leave_to_nobody(timeline)
    timeline.add_ledger(outcome.baseline, outcome.cycle_ends)
    timeline.garbage = outcome.garbage
    report.steps = tuple(_steps(timeline))
    report.sites = sites(timeline)
    report.buffers = buffers(timeline)
    report.arena = outcome.arena
    if outcome.expected is not None:
        report.expectation = expectation.against(timeline, outcome.expected)
        if differs := expectation.difference(report.expectation, report.steps):
            report.notes += (differs,)
    after = outcome.cycle_ends[-1] if outcome.cycle_ends else {}
    report.teardown = Teardown(outcome.baseline, after)
    if report.failure is None and len(timeline.intervals) < len(intervals):
        report.failure = _unmeasurable(intervals[len(timeline.intervals)])


def _unmeasurable(lost: Interval) -> Failure:
    """A run that came to its end, but whose trace did not."""
    at = Position("measure", lost.cycle, lost.step.last if lost.step else -1, 0)
    text = (
        "the trace of allocations broke off, as it does when a backend closes descriptors that "
        "are not its own, or calls sys.setprofile"
    )
    return failure("unmeasurable", text, at, "")


def without_trace() -> Failure:
    """A run that came to its end and has no trace at all."""
    text = (
        "the trace of allocations is gone: something has removed the file, such as a backend that "
        "clears the folder for temporary files"
    )
    return failure("unmeasurable", text, Position("measure", 0, -1, 0), "")


def _steps(timeline: Timeline) -> list[Step]:
    steps = []
    for position, number in enumerate(timeline.steps):
        interval, by_owner = timeline.intervals[number], timeline.by_owner(number)
        assert interval.step is not None
        steps.append(
            Step(
                cycle=interval.cycle,
                index=interval.step.index,
                frames=(interval.step.first, interval.step.last),
                width=interval.step.width,
                height=interval.step.height,
                phase=interval.step.phase,
                allocations=sum(count.allocations for count in by_owner.values()),
                bytes=sum(count.bytes for count in by_owner.values()),
                by_owner=by_owner,
                live_bytes=timeline.live_total[number],
                in_flight=timeline.in_flight[position],
                live_by_owner=timeline.live_by_owner(number),
            )
        )
    return steps
