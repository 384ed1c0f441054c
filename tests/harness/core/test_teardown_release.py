"""teardown-release on timelines made by hand: what is first use, a slot, and a leak."""

from __future__ import annotations

import pytest

from harness.contract import Contract
from harness.result import RuleResult
from harness.rules import teardown_release
from harness.rules.teardown_release import first_use
from harness.timeline import END
from tests.harness.core.synthetic import Made

OWNED, GROWTH = Contract("zero-owned"), Contract("zero-growth")


def told(result: RuleResult) -> tuple[str, int]:
    return result.status, result.measured


def release(made: Made) -> RuleResult:
    return teardown_release.check(made.timeline(), OWNED)


def test_what_every_cycle_leaves_is_a_leak() -> None:
    made = Made(2, cycles=3)
    for cycle in (1, 2, 3):
        made.block(made.number("step", cycle, 1), END, 31)
    result = release(made)
    assert told(result) == ("fail", 62)
    assert [(f.count, f.cycle, f.frames) for f in result.findings] == [(2, 2, (1,))]


def test_what_the_first_cycle_leaves_is_first_use() -> None:
    made = Made(2, cycles=3)
    made.block(made.number("open"), END, 5000)
    made.block(made.number("step"), END, 10, line=8)
    made.block(made.number("step"), END, 20, line=8)
    assert told(release(made)) == ("pass", 0)
    survivors = first_use(made.timeline())
    assert [(s.line, s.count, s.bytes) for s in survivors] == [(7, 1, 5000), (8, 2, 30)]


@pytest.mark.parametrize("cycles", [3, 4, 7])
def test_a_slot_that_each_cycle_overwrites_is_no_leak(cycles: int) -> None:
    made = Made(2, cycles=cycles)
    for cycle in range(1, cycles):
        made.block(made.number("open", cycle), made.number("open", cycle + 1), 368)
    made.block(made.number("open", cycles), END, 368)
    assert told(release(made)) == ("pass", 0)


def test_a_slot_may_hold_a_block_of_another_size_each_time() -> None:
    made = Made(2, cycles=3)
    for cycle, size in ((1, 370), (2, 368)):
        made.block(made.number("open", cycle), made.number("open", cycle + 1), size)
    made.block(made.number("open", 3), END, 360)
    assert told(release(made)) == ("pass", 0)


def test_a_leak_of_the_middle_cycle_alone_is_a_leak() -> None:
    made = Made(2, cycles=3)
    made.block(made.number("close", 2), END, 8)
    assert told(release(made)) == ("fail", 8)


def test_what_only_the_last_cycle_adds_is_a_leak() -> None:
    made = Made(2, cycles=3)
    made.block(made.number("flush", 3), END, 8)
    assert told(release(made)) == ("fail", 8)


def test_a_leak_hidden_behind_a_slot_is_found() -> None:
    made = Made(2, cycles=4)
    for cycle in (1, 2, 3):
        made.block(made.number("open", cycle), made.number("open", cycle + 1), 368)
    made.block(made.number("open", 4), END, 368)
    for cycle in (1, 2, 3, 4):
        made.block(made.number("close", cycle), END, 16, line=9)
    result = release(made)
    assert 9 in {finding.line for finding in result.findings}


@pytest.mark.parametrize("cycles", [1, 2])
def test_fewer_than_three_cycles_tell_nothing(cycles: int) -> None:
    made = Made(2, cycles=cycles)
    made.block(made.number("open", cycles), END)
    assert told(release(made)) == ("skipped", 0)


@pytest.mark.parametrize(
    ("owner", "status"),
    [("harness", "pass"), ("interpreter", "pass"), ("model", "fail"), ("runtime", "fail")],
)
def test_whose_leak_counts(owner: str, status: str) -> None:
    made = Made(2, cycles=3)
    made.block(made.number("open", 2), END, owner=owner)
    assert release(made).status == status


def test_a_frame_of_the_source_that_a_backend_keeps_for_ever_is_a_leak() -> None:
    made = Made(2, cycles=3)
    for cycle in (1, 2, 3):
        made.block(made.number("step", cycle), END, 12288, owner="source")
    assert told(release(made)) == ("fail", 2 * 12288)


@pytest.mark.parametrize(("size", "listed"), [(16, True), (16, False), (2000, True)])
def test_small_blocks_that_a_list_of_numpys_may_hold_are_no_leak(size: int, listed: bool) -> None:
    made = Made(2, cycles=4)
    for cycle in (2, 3):
        made.block(made.number("open", cycle), END, size, listed=listed)
    status = "pass" if listed and size < 1024 else "fail"
    assert teardown_release.check(made.timeline(), GROWTH).status == status


def test_more_of_them_than_it_has_room_for_are_a_leak() -> None:
    made = Made(2, cycles=10)
    for cycle in range(2, 10):
        made.block(made.number("open", cycle), END, 16, listed=True)
    assert told(teardown_release.check(made.timeline(), GROWTH)) == ("fail", 8 * 16)
