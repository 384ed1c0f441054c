"""Each rule on timelines made by hand: what violates it, what doesn't, and the border."""

from __future__ import annotations

from itertools import pairwise

import pytest

from harness.contract import Contract
from harness.result import RuleResult
from harness.rules import RULES, grow_only, steady_allocations, steady_growth
from harness.timeline import END, PAGE
from tests.harness.core.synthetic import Made

OWNED, GROWTH, MALLOC = Contract("zero-owned"), Contract("zero-growth"), Contract("zero-malloc")


def told(result: RuleResult) -> tuple[str, int]:
    return result.status, result.measured


def test_every_rule_is_known_by_its_own_id() -> None:
    timeline = Made(4).timeline()
    for name, check in RULES.items():
        assert check(timeline, OWNED).rule == name
        assert check(timeline, OWNED).status in ("pass", "skipped")


# steady-allocations


def test_one_allocation_on_a_steady_step_is_one_too_many() -> None:
    made = Made(4, phases="rwss")
    for kind in ("open", "flush", "close"):
        made.block(made.number(kind), made.number(kind))
    made.block(1, 1)
    made.block(2, 2)
    assert told(steady_allocations.check(made.timeline(), OWNED)) == ("pass", 0)
    made.block(3, 3, size=1, line=8)
    result = steady_allocations.check(made.timeline(), OWNED)
    assert told(result) == ("fail", 1)
    (finding,) = result.findings
    assert (finding.line, finding.count, finding.bytes, finding.frames) == (8, 1, 1, (2,))
    assert "step 2 (64x48, steady): 1 allocation of 1 bytes" in finding.text


@pytest.mark.parametrize(
    ("contract", "status"), [(GROWTH, "skipped"), (OWNED, "pass"), (MALLOC, "fail")]
)
def test_the_level_says_whose_allocations_count(contract: Contract, status: str) -> None:
    made = Made(2)
    made.block(1, 1, owner="model")
    made.block(1, 1, owner="source")
    made.block(1, 1, owner="harness")
    result = steady_allocations.check(made.timeline(), contract)
    assert result.status == status
    if status == "fail":
        assert {finding.owner for finding in result.findings} == {"model"}


def test_without_a_steady_step_nothing_is_shown() -> None:
    timeline = Made(3, phases="rww").timeline()
    for check in (steady_allocations.check, steady_growth.check):
        assert told(check(timeline, OWNED)) == ("skipped", 0)


def test_findings_are_by_line_and_the_largest_comes_first() -> None:
    made = Made(4, cycles=2)
    for cycle in (1, 2):
        for index in range(4):
            made.block(made.number("step", cycle, index), END, 10, line=7)
            number = made.number("step", cycle, index)
            made.block(number, number, 5000, line=9)
    findings = steady_allocations.check(made.timeline(), OWNED).findings
    assert [(f.line, f.count, f.bytes) for f in findings] == [(9, 8, 40000), (7, 8, 80)]
    assert findings[0].frames == (0, 1, 2, 3)
    assert findings[0].cycle == 1
    assert "step 0 of cycle 1 (64x48, steady) and 7 more" in findings[0].text


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_line_that_frees_most_and_keeps_some_is_told_with_both(kept: int) -> None:
    made = Made(6, cycles=2)
    for cycle in (1, 2):
        for index in range(6):
            number = made.number("step", cycle, index)
            for _ in range(5):
                made.block(number, number, 100)
            if index >= 6 - kept:  # the last one alone may be a slot that each step overwrites
                made.block(number, made.number("close", cycle), 100)
    (finding,) = steady_allocations.check(made.timeline(), OWNED).findings
    words = "; 6 of them, 600 bytes, are kept until the backend is closed"
    assert finding.text.endswith(words) == (kept > 1)


# grow-only


@pytest.mark.parametrize("size", [PAGE - 1, PAGE, PAGE + 1])
def test_a_buffer_is_a_page_or_more(size: int) -> None:
    made = Made(3, phases="rws")
    made.block(2, 2, size)
    result = grow_only.check(made.timeline(), OWNED)
    assert told(result) == (("fail", 1) if size >= PAGE else ("pass", 0))


def test_buffers_may_grow_on_record_steps_and_before_the_first() -> None:
    made = Made(3, phases="rrs")
    made.block(0, END, 5 * PAGE)
    made.block(1, END, PAGE)
    made.block(2, END, 2 * PAGE)
    made.block(2, END, 9 * PAGE, owner="model")
    result = grow_only.check(made.timeline(), OWNED)
    assert told(result) == ("pass", 0)
    assert "2 growths on record steps" in result.why


@pytest.mark.parametrize("owner", ["model", "source", "runtime", "interpreter", "harness"])
def test_only_the_backends_buffers_count(owner: str) -> None:
    made = Made(3, phases="rws")
    made.block(2, END, 5 * PAGE, owner=owner)
    assert told(grow_only.check(made.timeline(), OWNED)) == ("pass", 0)


def test_grow_only_is_not_asked_at_level_zero_growth() -> None:
    made = Made(3, phases="rws")
    made.block(2, 2, PAGE)
    assert grow_only.check(made.timeline(), GROWTH).status == "skipped"


# steady-growth


def growth(made: Made) -> RuleResult:
    return steady_growth.check(made.timeline(), GROWTH)


@pytest.mark.parametrize("steps", [2, 3, 4, 5, 8, 50])
def test_a_block_kept_per_step_is_growth(steps: int) -> None:
    made = Made(steps)
    for number in range(1, steps + 1):
        made.block(number, END, 24)
    result = growth(made)
    assert told(result) == ("fail", 24 * steps)
    assert result.findings[0].count == steps


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_swing_is_no_growth(period: int) -> None:
    # A batch fills over some steps and is given back at once.
    made = Made(24)
    for number in range(1, 25):
        end = (number - 1) // period * period + period
        made.block(number, min(end, 24) if number != end else number, 100)
    assert told(growth(made)) == ("pass", 0)


def test_buffers_that_take_turns_are_no_growth() -> None:
    made = Made(20)
    for number in range(1, 20):
        made.block(number, number + 1, 5000)
    made.block(20, made.number("flush"), 5000)
    assert told(growth(made)) == ("pass", 0)


def test_a_slot_that_is_overwritten_on_some_steps_is_no_growth() -> None:
    made = Made(40)
    marks = [0, 7, 15, 28, 39, made.number("close")]
    for born, died in pairwise(marks):
        made.block(born, died, 368)
    assert told(growth(made)) == ("pass", 0)


def test_a_seldom_leak_is_growth() -> None:
    made = Made(192)
    for number in (42, 92, 142, 192):
        made.block(number, END, 16)
    assert told(growth(made)) == ("fail", 64)


def test_growth_that_comes_to_rest_in_the_first_half_is_filling() -> None:
    made = Made(20)
    for number in range(1, 9):
        made.block(number, made.number("close"), 100)
    assert told(growth(made)) == ("pass", 0)


def test_what_is_freed_as_much_as_born_is_no_growth_even_if_other_lines_leak() -> None:
    made = Made(20)
    for number in range(1, 20):
        made.block(number, number + 1, 700, line=5)
        made.block(number, END, 24, line=6)
    result = growth(made)
    assert {finding.line for finding in result.findings} == {6}


def test_owners_are_told_apart() -> None:
    # The backend shrinks as fast as the source's frames pile up.
    made = Made(20)
    for number in range(1, 21):
        made.block(0, number, 101, owner="backend")
        made.block(number, END, 100, owner="source", line=3)
    result = growth(made)
    assert {finding.owner for finding in result.findings} == {"source"}


@pytest.mark.parametrize("owner", ["harness", "interpreter"])
def test_some_owners_are_exempt(owner: str) -> None:
    made = Made(20)
    for number in range(1, 21):
        made.block(number, END, 100, owner=owner)
    assert told(growth(made)) == ("pass", 0)


def test_growth_between_stretches_is_not_growth_within() -> None:
    made = Made(20, phases="rwwsssssss" * 2)
    for number in (1, 2, 11, 12):
        made.block(number, END, 100)
    assert told(growth(made)) == ("pass", 0)
    made.block(19, END, 100, line=9)
    made.block(20, END, 100, line=9)
    assert told(growth(made)) == ("fail", 200)


def test_blocks_handed_on_by_a_free_list_are_no_growth() -> None:
    # One block of the size goes from the source to the backend, and none is added.
    made = Made(20)
    made.block(0, 15, 48, owner="source")
    made.block(15, END, 48)
    assert told(growth(made)) == ("pass", 0)


@pytest.mark.parametrize("at", [2, 15, 20])
def test_what_is_made_once_and_late_is_no_growth(at: int) -> None:
    made = Made(20)
    made.block(at, END, 528)
    assert told(growth(made)) == ("pass", 0)
    made.block(19 if at != 19 else 18, END, 528)
    assert told(growth(made))[0] == "fail"
