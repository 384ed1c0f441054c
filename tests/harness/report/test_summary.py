"""The numbers that people read first."""

from __future__ import annotations

from harness.report.summary import (
    amounts,
    growth_events,
    leaks,
    steady_allocations,
    steady_groups,
)
from harness.result import RuleResult


def test_equal_cycles_and_equal_steps_are_drawn_together(make_report) -> None:
    ((cycles, (group,)),) = steady_groups(make_report())
    assert cycles == (1, 2, 3)
    assert group.steps == (2, 3, 4, 5, 6, 7)
    assert (group.width, group.height, group.burst) == (128, 96, 4)
    assert group.by_owner == (("backend", 0, 0), ("model", 1204, 2_943_120))


def test_one_byte_more_on_one_step_keeps_it_apart(make_report, make_step) -> None:
    steps = [make_step(1, index, backend=(1, 10 + (index == 3))) for index in range(2, 6)]
    ((_, groups),) = steady_groups(make_report(steps=tuple(steps)))
    assert [group.steps for group in groups] == [(2,), (3,), (4, 5)]


def test_cycle_that_differs_has_its_own_groups(make_report, make_step) -> None:
    steps = tuple(make_step(cycle, 2, backend=(int(cycle == 2), 0)) for cycle in (1, 2, 3))
    assert [cycles for cycles, _ in steady_groups(make_report(steps=steps))] == [(1, 3), (2,)]


def test_steady_allocations_are_least_and_most_with_absent_as_none(make_report, make_step) -> None:
    steps = (make_step(1, 2, model=(3, 9), runtime=(0, 0)), make_step(1, 3))
    assert steady_allocations(make_report(steps=steps)) == {"backend": (0, 0), "model": (0, 3)}
    assert steady_allocations(make_report(steps=())) == {}


def test_growth_is_counted_on_record_steps_of_the_backend_only(make_report, make_step) -> None:
    steps = (
        make_step(1, 0, "record", backend=(1, 10)),
        make_step(1, 1, "record", model=(1, 10)),
        make_step(1, 2, "warm-up", backend=(1, 10)),
        make_step(2, 0, "record", backend=(2, 20)),
    )
    assert growth_events(make_report(steps=steps)) == 2


def test_leaks_are_those_of_teardown_release(make_report, make_failed, make_finding) -> None:
    two = (make_finding(count=2, bytes=10), make_finding(count=3, bytes=5))
    assert leaks(make_failed(*two, rule="teardown-release")) == (5, 15)
    assert leaks(make_report()) == (0, 0)
    skipped = RuleResult("teardown-release", "skipped", 0, 0, "two cycles only")
    assert leaks(make_report(rules=(skipped,))) is None
    assert leaks(make_report(rules=())) is None


def test_what_was_not_measured_has_no_amount() -> None:
    assert amounts(RuleResult("x", "fail", 1234, 0, "")) == ("1,234", "0")
    assert amounts(RuleResult("x", "skipped", 0, 0, "")) == ("-", "-")
