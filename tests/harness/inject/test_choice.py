"""Which operations are chosen to fail."""

from __future__ import annotations

from harness.inject.choice import batches, choose, distinct, segments_of
from harness.inject.points import Baseline, Counted, Kind, Operation


def operation(
    key: str, frame: int, occurrence: int, phase: str = "execute", kind: Kind = "operator"
) -> Operation:
    return Operation(key, occurrence, kind, f"aten.{key}", "MainThread", phase, frame)


def counted(*operations: Operation) -> Counted:
    return Counted(operations, (), (0, 0))


SEGMENTS = [0, 0, 1, 1]


def test_every_frame_has_its_segment() -> None:
    assert segments_of("8x8@25*2,16x16@25*2") == SEGMENTS


def test_one_of_each_stack_and_segment_is_chosen() -> None:
    operations = [operation("a", frame, frame + 1) for frame in range(4)]
    assert distinct(operations, SEGMENTS) == [0, 2]


def test_of_a_loop_in_opening_the_first_and_the_last_are_chosen() -> None:
    operations = [operation("a", -1, n + 1, "open") for n in range(4)]
    assert distinct(operations, SEGMENTS) == [0, 3]


def test_every_start_of_a_thread_is_chosen() -> None:
    operations = [operation("a", 0, n + 1, kind="thread") for n in range(3)]
    assert distinct(operations, SEGMENTS) == [0, 1, 2]


def test_what_a_process_does_once_comes_first_and_alone() -> None:
    first = counted(operation("lazy", 0, 1), operation("a", 0, 1))
    again = counted(operation("a", 0, 1), operation("a", 1, 2))
    chosen = choose(Baseline(first, again, {}), SEGMENTS, everything=False)
    told = [(each.point.key, each.point.lasting, each.index, each.first_use) for each in chosen]
    assert told == [
        ("lazy", False, 1, True),
        ("a", False, 2, False),
        ("lazy", True, 1, True),
        ("a", True, 2, False),
    ]
    assert {each.total for each in chosen} == {3}
    sizes = [[each.point.key for each in batch] for batch in batches(chosen)]
    assert sizes == [["lazy"], ["lazy"], ["a", "a"]]


def test_all_is_all() -> None:
    again = counted(*(operation("a", 0, n + 1) for n in range(5)))
    chosen = choose(Baseline(again, again, {}), SEGMENTS, everything=True)
    assert [each.index for each in chosen] == [1, 2, 3, 4, 5] * 2
    assert [each.point.occurrence for each in chosen] == [1, 2, 3, 4, 5] * 2
