"""Comparing on logs made by hand: which difference is which, and what is not guessed."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.contract import Contract
from harness.instruments.reference import in_order_of_interest
from harness.outputs import Difference, OutputEvidence, Reference, compare
from harness.result import RuleResult
from harness.result_log import Event, Group, Row
from harness.rules import output
from harness.timeline import Timeline


def row(content: str, frame: int = -1, pts: int | None = None, shape: str = "s") -> Row:
    """A result with this content: a letter a value."""
    return Row(Event.RESULT, frame, pts, shape.encode(), content.encode(), f"array {shape}")


def group(contents: str, pts: Sequence[int] | None = None, shapes: str = "") -> Group:
    rows = [
        row(content, pts=pts[n] if pts else None, shape=shapes[n] if shapes else "s")
        for n, content in enumerate(contents)
    ]
    return Group(rows, len(rows))


def alone(contents: str, *, pts: bool = False, shapes: str = "") -> Reference:
    """A fresh instance's result for each frame; "." for a frame that was not computed."""
    rows = [
        row(content, n, n if pts else None, shapes[n] if shapes else "s")
        for n, content in enumerate(contents)
        if content != "."
    ]
    known = [n if content != "." else -1 for n, content in enumerate(contents)]
    return Reference(known, rows, serial=False)


def serial(contents: str, frames: int | None = None) -> Reference:
    rows = [row(content) for content in contents]
    return Reference(list(range(len(rows) if frames is None else frames)), rows, serial=True)


def kinds(evidence: OutputEvidence) -> list[tuple[str, int, int]]:
    return [(d.kind, d.frame, d.other) for d in evidence.differences]


def check(evidence: OutputEvidence | None) -> RuleResult:
    timeline = Timeline([], [], [], 3)
    timeline.outputs = evidence
    return output.check(timeline, Contract())


def test_a_result_that_can_not_be_read_fails_whether_or_not_it_is_compared() -> None:
    unreadable = Row(Event.UNREADABLE, -1, None, b"", b"", "a result whose data raises OSError")
    for screened, reference in (
        (Group([*group("ab").rows, unreadable], 3), alone("abc")),  # frame 2 alone can be read
        (Group([unreadable], 1), Reference([0], [unreadable._replace(frame=0)], serial=False)),
        (Group([unreadable, *group("a").rows], 2), alone("abc")),  # of which frames isn't told
    ):
        result = check(compare([screened], reference))
        assert (result.status, result.measured) == ("fail", 1)
        assert [(one.kind, one.count) for one in result.findings] == [("unreadable", 1)]


def test_equal_results_pass_in_every_cycle() -> None:
    evidence = compare([group("abcd"), group("abcd")], alone("abcd"))
    assert (evidence.frames, evidence.compared) == (4, (0, 1, 2, 3))
    assert check(evidence).status == "pass"
    assert "all 4 compared" in check(evidence).why


def test_one_wrong_result_in_a_later_cycle_fails() -> None:
    evidence = compare([group("abcd"), group("abxd")], alone("abcd"))
    assert evidence.differences == (Difference("wrong-data", 2, 2, 2, -1, "array s", "array s"),)
    (finding,) = check(evidence).findings
    assert (finding.kind, finding.frames, finding.cycle) == ("wrong-data", (2,), 2)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        ("abbd", [("other-frame", 2, 1)]),
        ("aabc", [("other-frame", 1, 0), ("other-frame", 2, 1), ("other-frame", 3, 2)]),
        ("acbd", [("out-of-order", 1, 2), ("out-of-order", 2, 1)]),
        ("bcda", [("out-of-order", n, (n + 1) % 4) for n in range(4)]),
    ],
)
def test_the_result_of_another_frame_is_named(got: str, expected: object) -> None:
    assert kinds(compare([group(got)], alone("abcd"))) == expected


def test_equal_shifts_are_one_finding() -> None:
    findings = check(compare([group("aabc")], alone("abcd"))).findings
    assert [f.frames for f in findings] == [(1, 2, 3)]
    assert "frame 1's result is that of frame 0" in findings[0].text


def test_the_nearest_frame_is_named_the_earlier_of_two() -> None:
    assert kinds(compare([group("xyaxyxy")], alone("xyxaxyx")))[0] == ("other-frame", 2, 3)
    assert kinds(compare([group("abxde")], alone("axcxe")))[1:2] == [("other-frame", 2, 1)]


def test_sizes_are_told_apart() -> None:
    reference = alone("abcdef", shapes="LLLSSS")
    assert kinds(compare([group("abcxef", shapes="LLLLSS")], reference)) == [("stale-size", 3, 2)]
    assert kinds(compare([group("abcxef", shapes="LLLMSS")], reference)) == [("wrong-shape", 3, -1)]
    # The size of a later frame can't be stale.
    assert kinds(compare([group("axcdef", shapes="LSLSSS")], reference)) == [("wrong-shape", 1, -1)]


def test_pts_are_compared_if_results_carry_them() -> None:
    right, late = group("abc", [0, 1, 2]), group("abc", [0, 0, 1])
    assert kinds(compare([right], alone("abc", pts=True))) == []
    assert kinds(compare([late], alone("abc", pts=True))) == [
        ("wrong-pts", 1, 0),
        ("wrong-pts", 2, 1),
    ]
    assert kinds(compare([late], alone("abc"))) == []


def test_a_lost_result_is_named_by_pts_or_by_content() -> None:
    assert kinds(compare([group("acd", [0, 2, 3])], alone("abcd", pts=True))) == [
        ("missing-result", 1, -1)
    ]
    assert kinds(compare([group("acd")], alone("abcd"))) == [("missing-result", 1, -1)]
    # With pts even a wrong one beside it.
    assert kinds(compare([group("axd", [0, 2, 3])], alone("abcd", pts=True))) == [
        ("wrong-data", 2, -1),
        ("missing-result", 1, -1),
    ]


def test_one_too_many_is_named() -> None:
    assert kinds(compare([group("abbcd")], alone("abcd"))) == [("extra-result", 1, -1)]


@pytest.mark.parametrize(
    ("got", "reference"),
    [
        ("aaa", alone("aaaa")),  # all alike
        ("axd", alone("abcd")),  # one that is nobody's
        ("dca", alone("abcd")),  # not in order
        ("acd", alone("ab.d")),  # not all known
        ("", alone("abcd")),
    ],
)
def test_what_order_does_not_tell_is_not_guessed(got: str, reference: Reference) -> None:
    evidence = compare([group(got)], reference)
    if got:
        assert evidence.differences == ()
        assert check(evidence).status == "skipped"
        assert f"{len(got)} results came of 4" in check(evidence).why
    else:  # every one of them is missing, whoever they were
        assert {d.kind for d in evidence.differences} == {"missing-result"}


def test_frames_left_out_are_named() -> None:
    result = check(compare([group("abxdef")], alone("ab.d.f")))
    assert result.status == "pass"
    assert "4 of 6 compared" in result.why
    assert "2, 4" in result.why


def test_several_results_for_each_frame_are_compared_in_order() -> None:
    rows = [row(content, n // 2) for n, content in enumerate("aAbB")]
    reference = Reference([0, 1], rows, serial=False)
    assert kinds(compare([group("aAbB")], reference)) == []
    assert kinds(compare([group("aAbX")], reference)) == [("wrong-data", 1, -1)]


def test_frames_with_equal_pixels_share_a_reference() -> None:
    reference = Reference([0, 1, 0, 1], [row("a", 0), row("b", 1)], serial=False)
    assert kinds(compare([group("abab")], reference)) == []
    assert kinds(compare([group("abax")], reference)) == [("wrong-data", 3, -1)]


def test_a_frame_without_result_alone_owes_none() -> None:
    rows = [row("a", 0), Row(Event.NONE, 1, None, b"", b"", ""), row("c", 2)]
    assert kinds(compare([group("ac")], Reference([0, 1, 2], rows, serial=False))) == []


def test_what_a_fresh_instance_refuses_is_not_compared() -> None:
    rows = [row("a", 0), Row(Event.ERROR, 1, None, b"", b"", "ValueError: no")]
    evidence = compare([group("ax")], Reference([0, 1], rows, serial=False))
    assert (evidence.differences, evidence.compared) == ((), (0,))
    assert "ValueError: no" in check(evidence).why


def test_incomparable_results_skip_the_rule() -> None:
    odd = Row(Event.INCOMPARABLE, 0, None, b"", b"", "a result of type object")
    evidence = compare([Group([odd], 1)], Reference([0], [odd], serial=False))
    assert check(evidence).status == "skipped"
    assert "type object" in check(evidence).why


def test_a_serial_instance_says_how_many_are_due() -> None:
    assert kinds(compare([group("ac")], serial("ac", frames=4))) == []
    (difference,) = compare([group("abc")], serial("ac", frames=4)).differences
    assert (difference.kind, difference.got, difference.expected) == ("result-count", "3", "2")


def test_a_random_reference_skips_and_nothing_measured_skips() -> None:
    random = OutputEvidence(4, (0, 1), unreproducible=(0, 1))
    assert check(random).status == "skipped"
    assert "disagree" in check(random).why
    assert check(None).status == "skipped"


def test_frames_after_changes_come_first() -> None:
    order = in_order_of_interest("LLLLLLSSSSSSLLLLLL")
    assert sorted(order) == list(range(18))
    assert order[:2] == [0, 6]
    assert set(order[2:10]) == {12, 1, 7, 13, 2, 8, 14, 17}
    assert in_order_of_interest("L") == [0]
