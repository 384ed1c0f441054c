"""What came beside what was owed, and what each round adds: on logs and timelines made by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from harness import bad_frames
from harness.contract import Contract
from harness.error_evidence import ErrorEvidence, Incident, judge, leaks, name_of
from harness.error_runs import stack_in
from harness.owners import Site
from harness.probes.heap import FIELDS
from harness.result import RuleResult
from harness.result_log import Event, Group, Row
from harness.rules import error_path
from harness.timeline import END, Span, Timeline

PLAN = bad_frames.schedule()
GOOD = [frame.number for frame in PLAN if not frame.bad]
BAD = [frame.number for frame in PLAN if frame.bad]


def result(number: int, content: str = "") -> Row:
    text = (content or f"result of {number}").encode()
    return Row(Event.RESULT, number, None, b"s", text, "array")


def error(number: int, event: Event = Event.ERROR) -> Row:
    return Row(event, number, None, b"", b"", f"ValueError: {number}")


def served() -> dict[int, list[Row]]:
    """What a good backend gives for each frame."""
    return {f.number: [error(f.number) if f.bad else result(f.number)] for f in PLAN}


def evidence_of(
    by_frame: dict[int, list[Row]],
    more: Iterable[Row] = (),
    control: list[Row] | None = None,
    *,
    stateful: bool = False,
) -> ErrorEvidence:
    rows = [row for number in sorted(by_frame) for row in by_frame[number]] + list(more)
    alone = control if control is not None else [result(number) for number in GOOD]
    groups = [Group(alone, len(alone))] * 2 + [Group(rows, len(rows))] * 2
    return judge(groups, {}, stateful=stateful)


def kinds(evidence: ErrorEvidence) -> list[tuple[str, int]]:
    return [(incident.kind, incident.frame) for incident in evidence.incidents]


def check(evidence: ErrorEvidence | None) -> RuleResult:
    timeline = Timeline([], [], [], 1)
    timeline.errors = evidence
    return error_path.check(timeline, Contract())


def test_the_schedule_has_each_kind_once_a_round() -> None:
    assert len(GOOD) == 28
    assert [PLAN[number].bad for number in BAD] == list(bad_frames.KINDS) * bad_frames.ROUNDS
    assert [n for burst, _ in bad_frames.bursts() for n in burst] == PLAN
    assert sum(ends for _, ends in bad_frames.bursts()) == bad_frames.ROUNDS


def test_one_exception_a_bad_frame_is_right() -> None:
    evidence = evidence_of(served())
    assert (evidence.incidents, evidence.raised, evidence.accepted) == ((), 20, 0)
    assert check(evidence).status == "pass"
    assert "20 raised" in check(evidence).why


def test_so_is_a_refusal_by_execute_and_a_result() -> None:
    frames = served()
    for number in BAD[:4]:
        frames[number] = [error(number, Event.REFUSED)]
    for number in BAD[4:8]:
        frames[number] = [result(number, "something")]
    evidence = evidence_of(frames)
    assert (evidence.incidents, evidence.raised, evidence.accepted) == ((), 16, 4)


@pytest.mark.parametrize("number", [BAD[0], BAD[5], BAD[19]])
def test_each_way_of_going_wrong_is_told_at_its_frame(number: int) -> None:
    after = number + 1
    ways: dict[str, tuple[int, dict[int, list[Row]]]] = {
        "swallowed-error": (number, {number: []}),
        "good-frame-lost": (after, {after: []}),
        "wrong-after-error": (after, {after: [result(after, "wrong")]}),
        "good-frame-failed": (after, {after: [error(after)]}),
        "extra-event": (number, {number: [error(number), error(number)]}),
    }
    for kind, (frame, change) in ways.items():
        evidence = evidence_of(served() | change)
        assert kinds(evidence) == [(kind, frame)], kind
        assert check(evidence).findings[0].kind == kind
        assert check(evidence).status == "fail"


def test_a_good_frame_that_execute_refuses_has_failed() -> None:
    assert kinds(evidence_of(served() | {9: [error(9, Event.REFUSED)]})) == [
        ("good-frame-failed", 9)
    ]


def test_an_error_that_comes_a_frame_late_is_told() -> None:
    frames = served()
    frames[8], frames[9] = frames[9], frames[8]
    assert kinds(evidence_of(frames))[0][0] == "swallowed-error"


def test_flush_and_close_may_not_fail() -> None:
    events = (Event.FLUSH_ERROR, Event.CLOSE_ERROR, Event.SECOND_CLOSE_ERROR)
    found = kinds(evidence_of(served(), [error(31, event) for event in events]))
    assert found == [("flush-error", 31), ("close-error", 31), ("second-close", 31)]


def test_where_nothing_can_be_compared_order_still_counts() -> None:
    mute = [Row(Event.INCOMPARABLE, n, None, b"", b"", "object") for n in GOOD]
    frames = {n: rows if PLAN[n].bad else [mute[0]] for n, rows in served().items()}
    assert evidence_of(frames, control=mute).incidents == ()
    assert kinds(evidence_of(frames | {9: []}, control=mute)) == [("good-frame-lost", 9)]


def test_a_backend_that_is_broken_or_random_without_bad_frames_is_no_case() -> None:
    broken = evidence_of(served(), control=[error(0)])
    assert check(broken).status == "skipped"
    assert "ValueError: 0" in check(broken).why
    frames = {n: rows if PLAN[n].bad else [result(n, "x")] for n, rows in served().items()}
    alone, again = ([result(n, f"{n}{which}") for n in GOOD] for which in "ab")
    rows = [row for number in sorted(frames) for row in frames[number]]
    alone_count, all_count = len(GOOD), len(PLAN)
    groups = [Group(alone, alone_count), Group(again, alone_count)]
    groups += [Group(rows, all_count), Group(rows, all_count)]
    evidence = judge(groups, {}, stateful=False)
    assert evidence.incidents == ()
    assert "random" in check(evidence).why


def test_state_that_took_in_a_bad_frame_is_not_compared_if_declared() -> None:
    frames = served() | {8: [result(8, "taken")], 9: [result(9, "changed")]}
    assert kinds(evidence_of(frames)) == [("wrong-after-error", 9)]
    assert evidence_of(frames, stateful=True).incidents == ()
    # If every bad frame raised, state must be as before.
    frames = served() | {9: [result(9, "changed")]}
    assert kinds(evidence_of(frames, stateful=True)) == [("wrong-after-error", 9)]


def test_not_tried_is_skipped_and_an_end_is_a_failure() -> None:
    assert check(None).status == "skipped"
    incident = Incident("crash", 8, "the backend crashed", (("work", "b.py", 3),))
    (finding,) = check(ErrorEvidence((incident,))).findings
    assert (finding.file, finding.line, finding.function) == ("b.py", 3, "work")
    assert "bad frame 8 (no pixels)" in finding.text


def test_frames_have_names() -> None:
    assert name_of(3) == "good frame 3"
    assert name_of(9) == "good frame 9, right after bad frame 8 (no pixels)"
    assert name_of(-1) == "no frame"


# what each round adds

INTERVALS = bad_frames.intervals()
ENDS = [n for n, interval in enumerate(INTERVALS) if interval.kind == "collect"]
SITE = Site("backend", "b.py", 3, "work", (("work", "b.py", 3),))
FLAT = [100] * len(FIELDS) * bad_frames.ROUNDS


def timeline(*spans: tuple[int, int, int], site: Site = SITE) -> Timeline:
    """Blocks of (born, died, size)."""
    found = [Span(site, size, born, died, 1) for born, died, size in spans]
    return Timeline(INTERVALS, [{} for _ in INTERVALS], found, 1)


def every_round(born: int, died: int = END) -> list[tuple[int, int, int]]:
    """A block of 64 bytes at the same place in each round, given where it lies in the first."""
    return [(born + n, died if died == END else died + n, 64) for n in range(0, 25, 5)]


def test_rounds_lie_where_they_should() -> None:
    assert ENDS == [13, 18, 23, 28, 33]
    assert len(INTERVALS) == 36


def test_a_block_of_each_round_after_the_first_is_a_leak() -> None:
    (leak,) = leaks(timeline(*every_round(10)), FLAT)
    assert (leak.site, leak.count, leak.bytes, leak.delayed) == (SITE, 4, 256, False)
    result = check(ErrorEvidence(leaks=(leak,)))
    assert (result.status, result.findings[0].kind) == ("fail", "leak-per-error")
    assert result.findings[0].line == 3


@pytest.mark.parametrize(
    "spans",
    [
        every_round(10)[:1],  # first use
        every_round(10)[:4],  # nothing more in the last round
        every_round(10)[1:2],
        # the first error of each thread of a pool
        [*every_round(10)[:2], *every_round(10)[3:4]],
        [*every_round(9, 14)[:4], (29, END, 64)],  # a slot that is overwritten
        every_round(9, 12),  # given back within the round
    ],
)
def test_what_does_not_grow_with_every_round_is_none(
    spans: list[tuple[int, int, int]],
) -> None:
    assert leaks(timeline(*spans), FLAT) == ()


def test_what_waits_for_the_collector_is_told_apart() -> None:
    (leak,) = leaks(timeline(*every_round(10, 13)), FLAT)
    assert leak.delayed
    assert check(ErrorEvidence(leaks=(leak,))).findings[0].kind == "delayed-release"


@pytest.mark.parametrize("owner", ["harness", "interpreter"])
def test_the_measurements_own_memory_is_none(owner: str) -> None:
    site = Site(owner, "h.py", 1, "f", ())
    assert leaks(timeline(*every_round(10), site=site), FLAT) == ()


def test_blocks_handed_on_by_a_free_list_are_none() -> None:
    # One is born in each round, and another of its size dies: there are no more than before.
    others = [
        Span(Site("runtime", "l", 1, "f", ()), 64, 0, end, 1) for _, end, _ in every_round(10, 11)
    ]
    made = timeline(*every_round(10))
    made.spans = [*made.spans, *others]
    assert leaks(made, FLAT) == ()


def samples(field: str, values: list[int]) -> list[int]:
    made = list(FLAT)
    made[FIELDS.index(field) :: len(FIELDS)] = values
    return made


@pytest.mark.parametrize("field", ["heap_bytes", "python_blocks", "threads", "descriptors"])
def test_totals_that_rise_with_every_round_are_leaks(field: str) -> None:
    unit = 32 if field == "heap_bytes" else 1
    (leak,) = leaks(timeline(), samples(field, [unit * value for value in (5, 6, 8, 9, 12)]))
    assert (leak.what, leak.count) == (field, 7 * unit)
    assert check(ErrorEvidence(leaks=(leak,))).status == "fail"
    for flat in ([5, 6, 7, 8, 8], [5, 5, 6, 7, 8], [5, 7, 6, 8, 9], [9, 8, 7, 6, 5]):
        assert leaks(timeline(), samples(field, [unit * value for value in flat])) == ()


def test_the_heap_may_shift_by_less_than_the_smallest_block() -> None:
    assert leaks(timeline(), samples("heap_bytes", [160, 176, 192, 208, 224])) == ()


def test_totals_that_a_line_explains_are_not_told_twice() -> None:
    leaking = timeline(*every_round(10))
    assert len(leaks(leaking, samples("python_blocks", [5, 6, 8, 9, 12]))) == 1
    assert len(leaks(leaking, samples("threads", [5, 6, 8, 9, 12]))) == 2


def test_stacks_are_read_from_what_python_wrote() -> None:
    fault = (
        'Fatal Python error: Aborted\n\nThread 0x01 (most recent call first):\n  File "t.py", line '
        '1 in idle\n\nCurrent thread 0x02 (most recent call first):\n  File "a.py", line 3 in work'
        '\n  File "b.py", line 9 in <module>\n\nExtension modules: x\n  File "c.py", line 1 in no'
    )
    assert stack_in(fault) == (("work", "a.py", 3), ("<module>", "b.py", 9))
    raised = (
        '  File "b.py", line 9, in outer\n    x()\n  File "a.py", line 3, in inner\n    y()\nE: f'
    )
    assert stack_in(raised) == (("inner", "a.py", 3), ("outer", "b.py", 9))
    assert stack_in("") == ()
