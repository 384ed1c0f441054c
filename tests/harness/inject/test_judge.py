"""The judge on made-up events: what one failure may cost, and what it must not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.inject.judge import TRIES, judge, mark_of, tells
from harness.inject.points import NO_THREAD, OUT_OF_MEMORY, Place
from harness.result_log import Event, Row

FRAMES = 6
SHAPE = b"s" * 16


def row(event: Event, frame: int = -1, text: str = "", content: int = 0) -> Row:
    pts = content if event == Event.RESULT else None
    return Row(event, frame, pts, SHAPE, bytes([content]) * 16, text)


def right(frame: int) -> Row:
    return row(Event.RESULT, content=frame)


def raised(text: str) -> Row:
    return row(Event.ERROR, text=text)


DUE = tuple(mark_of(right(frame)) for frame in range(FRAMES))
CLEAR = raised("MemoryError: no memory")
RIGHT = [right(frame) for frame in range(FRAMES)]
IN_FRAME_2 = Place("execute", 2, 2)


def kinds(
    rows: Sequence[Row],
    fired: Place = IN_FRAME_2,
    *,
    telling: Sequence[int] = (),
    lasting: bool = False,
    stateful: bool = False,
    due: Sequence[str | None] = DUE,
) -> list[tuple[str, int]]:
    found = judge(due, FRAMES, rows, telling, fired, lasting=lasting, stateful=stateful)
    return [(each.kind, each.frame) for each in found]


def test_a_failure_may_cost_its_frame_or_none() -> None:
    assert kinds([*RIGHT[:2], CLEAR, *RIGHT[3:]]) == []
    assert kinds(RIGHT) == []
    refused = row(Event.REFUSED, 2, "MemoryError: no memory")
    assert kinds([*RIGHT[:2], refused, *RIGHT[3:]]) == []


def test_no_other_frame_may_fail() -> None:
    assert kinds([*RIGHT[:2], CLEAR, CLEAR, *RIGHT[4:]]) == [("good-frame-failed", 3)]
    assert kinds([CLEAR, *RIGHT[1:]]) == [("good-frame-failed", 0)]


def test_frames_that_share_an_operation_fail_together_if_they_say_so() -> None:
    hand = Place("execute", 3, 2)
    rows = [*RIGHT[:2], CLEAR, CLEAR, *RIGHT[4:]]
    assert kinds(rows, hand, telling=(2, 3)) == []
    assert kinds(rows, hand) == [("good-frame-failed", 3)]


def test_a_wrong_result_is_never_right() -> None:
    rows = [*RIGHT[:2], right(1), *RIGHT[3:]]
    assert kinds(rows) == kinds(rows, lasting=True) == [("wrong-result", 2)]


def test_a_frame_without_anything_is_lost_wherever_it_is() -> None:
    assert kinds([*RIGHT[:2], *RIGHT[3:]]) == [("frame-lost", 2)]
    assert kinds([*RIGHT[:2], CLEAR, *RIGHT[4:]], lasting=True) == [("frame-lost", 3)]


def test_a_flush_that_raises_speaks_for_the_frame_that_it_was_to_finish() -> None:
    told = row(Event.FLUSH_ERROR, 5, "MemoryError: no memory")
    assert kinds([*RIGHT[:5], told], Place("flush", 5, 5), telling=(5,)) == []
    assert kinds([*RIGHT[:4], told], Place("flush", 5, 4), telling=(4,)) == [("frame-lost", 5)]


def test_more_than_was_submitted_is_too_much() -> None:
    assert kinds([*RIGHT[:2], CLEAR, *RIGHT[2:]]) == [("extra-event", -1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AttributeError: 'NoneType' object has no attribute 'x'", [("wrong-exception", 2)]),
        ("FrameError: frame 2: AssertionError", [("wrong-exception", 2)]),
        ("ValueError: inference failed", []),
    ],
)
def test_what_is_raised_must_not_be_a_blunder(text: str, expected: list[tuple[str, int]]) -> None:
    rows = [*RIGHT[:2], raised(text), *RIGHT[3:]]
    assert kinds(rows) == expected
    assert kinds(rows, telling=(2,)) == []  # one that quotes the failure is clear, whatever type


def test_while_failures_last_all_frames_from_then_on_may_fail() -> None:
    assert kinds([*RIGHT[:2], *[CLEAR] * 4], lasting=True) == []
    assert kinds([*RIGHT[:1], *[CLEAR] * 5], lasting=True) == [("good-frame-failed", 1)]


def test_a_failure_while_opening_that_open_does_not_tell_costs_no_frame() -> None:
    assert kinds(RIGHT, Place("open", -1, 0)) == []
    assert kinds([CLEAR, *RIGHT[1:]], Place("open", -1, 0)) == [("good-frame-failed", 0)]


def test_close_may_fail_but_not_for_ever() -> None:
    failed = row(Event.CLOSE_ERROR, 5, "MemoryError: no memory")
    fired = Place("close", 5, 6)
    assert kinds([*RIGHT, failed], fired, telling=(6,)) == []
    assert kinds([*RIGHT, *[failed] * TRIES], fired, telling=(6, 7, 8)) == [("not-closable", -1)]


def test_a_flush_that_goes_on_raising_when_nothing_fails_any_more_is_told() -> None:
    failed = row(Event.FLUSH_ERROR, 5, "RuntimeError: broken")
    rows = [*RIGHT[:2], CLEAR, *RIGHT[3:], *[failed] * TRIES]
    assert kinds(rows) == [("flush-error", -1)]


def test_what_can_not_be_compared_is_not() -> None:
    due = [*DUE[:4], None, DUE[5]]
    assert kinds([*RIGHT[:2], CLEAR, RIGHT[3], right(0), RIGHT[5]], due=due) == []


def test_results_that_depend_on_earlier_frames_need_but_the_right_shape() -> None:
    rows = [*RIGHT[:2], CLEAR, right(1), *RIGHT[4:]]
    assert kinds(rows, stateful=True) == []
    assert kinds([RIGHT[1], *rows[1:]], stateful=True) == [("wrong-result", 0)]
    shrunk = rows[3]._replace(structure=b"t" * 16)
    assert kinds([*rows[:3], shrunk, *rows[4:]], stateful=True) == [("wrong-result", 3)]


def test_where_results_are_not_one_for_each_frame_each_must_be_one_that_is_due() -> None:
    assert kinds(RIGHT[:2], due=DUE[:3]) == []
    assert kinds([right(0), right(5)], due=DUE[:3]) == [("wrong-result", -1)]


def test_an_exception_tells_by_its_text_its_type_or_its_cause() -> None:
    class UnreadableError(Exception):
        def __str__(self) -> str:
            raise ValueError

    wrapped = ValueError("inference failed")
    wrapped.__cause__ = RuntimeError(OUT_OF_MEMORY)
    assert tells(RuntimeError(NO_THREAD))
    assert tells(MemoryError())
    assert tells(wrapped)
    assert not tells(ValueError("inference failed"))
    assert not tells(UnreadableError())
    ring = ValueError("round")
    ring.__cause__ = ring
    assert not tells(ring)
