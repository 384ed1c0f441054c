"""What a report must say for a fault to count as found and named, on reports made by hand."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from harness import selftest, selftest_show
from harness.errors import UsageError
from harness.result import Cost, Failure, Finding, Report, RuleResult, Teardown
from harness.selftest import NO_VERDICT, Planted, Seen, check

FILE = "/faults/leaks.py"
FAULT = Planted(
    "leaks", "a leak", dict, {"quick": True}, "steady-growth", "leak-per-frame", "", FILE, 7, (9,)
)
UNNAMED = Planted("late", "late", dict, {"quick": True}, "output", "stale-size")
GREEN = Planted("fine", "looks bad", dict, {"quick": True})


def finding(line: int = 7, **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "owner": "backend",
        "file": FILE,
        "line": line,
        "function": "f",
        "frames": (),
        "count": 1,
        "bytes": 1,
        "cycle": 1,
        "stack": (),
        "kind": "leak-per-frame",
        "text": "it leaks",
    }
    return Finding(**(values | changes))


def report(*findings: Finding, rule: str = "steady-growth", failure: Any = None) -> Report:
    status: Any = "fail" if findings else "pass"
    rules = () if failure else (RuleResult(rule, status, 1, 0, "why", findings),)
    verdict: Any = "no-verdict" if failure else status
    return Report(
        1, verdict, "zero-owned", "t", "w", 0, rules, (), Teardown({}, {}), Cost(0, 0), {}, "again",
        failure=failure,
    )  # fmt: skip


def outcome(planted: Planted, made: Report) -> tuple[bool, bool | None, bool]:
    seen = check(planted, made, 0.1)
    return seen.found, seen.named, seen.right


def test_found_at_its_line() -> None:
    assert outcome(FAULT, report(finding())) == (True, True, True)
    assert outcome(FAULT, report(finding(), finding(9))) == (True, True, True)


def test_the_line_of_the_fault_on_the_way_to_another_files_counts() -> None:
    stack = (("allocate", "/other.py", 3), ("f", FILE, 7), ("main", FILE, 80))
    assert outcome(FAULT, report(finding(3, file="/other.py", stack=stack)))[1] is True


@pytest.mark.parametrize(
    "findings",
    [
        (finding(8),),
        (finding(9),),
        (finding(), finding(8)),
        (finding(7, file="/other.py"),),
        (finding(), finding(3, file="/other.py")),
        (finding(0),),
    ],
)
def test_another_line_is_wrong_also_beside_the_right_one(findings: tuple[Finding, ...]) -> None:
    assert outcome(FAULT, report(*findings)) == (True, False, False)


def test_the_line_of_an_input_frame_is_nobodys() -> None:
    source = finding(60, file="/harness/source.py", owner="source")
    assert outcome(FAULT, report(finding(), source))[1] is True


@pytest.mark.parametrize(
    "made",
    [
        report(),
        report(finding(), rule="teardown-release"),
        report(finding(kind="input-kept")),
        report(failure=Failure("hung", "flush", 1, 3, "it hung")),
    ],
)
def test_another_rule_or_kind_is_a_miss(made: Report) -> None:
    assert outcome(FAULT, made) == (False, None, False)


def test_a_finding_of_a_rule_that_passes_is_none() -> None:
    result = RuleResult("steady-growth", "pass", 0, 0, "why", (finding(),))
    made = report()
    made.rules = (result,)
    assert outcome(FAULT, made) == (False, None, False)


def test_where_no_line_can_be_named_none_is_asked_for() -> None:
    late = finding(0, file="", kind="stale-size")
    assert outcome(UNNAMED, report(late, rule="output")) == (True, None, True)


def test_a_failure_must_be_of_the_kind_and_in_the_call() -> None:
    hangs = Planted("hangs", "hangs", dict, {"quick": True}, NO_VERDICT, "hung", "close")
    expected = {("hung", "close"): True, ("hung", "flush"): False, ("crashed", "close"): False}
    for (kind, phase), right in expected.items():
        failure = Failure(kind, phase, 1, 3, "words")
        assert outcome(hangs, report(failure=failure)) == (right, None, right)
    assert outcome(hangs, report()) == (False, None, False)


def test_nothing_may_be_said_of_what_is_right() -> None:
    assert outcome(GREEN, report())[2]
    assert not outcome(GREEN, report(finding()))[2]
    assert not outcome(GREEN, report(failure=Failure("hung", "flush", 1, 3, "it hung")))[2]
    silent = report()
    silent.verdict = "no-verdict"
    assert not outcome(GREEN, silent)[2]


def test_names_are_chosen_and_a_wrong_one_is_refused() -> None:
    twin = Planted("leaks", "a leak", dict, {"quick": True}, twin=True)
    runs = [FAULT, twin, GREEN]
    assert selftest.chosen(runs, []) == runs
    assert selftest.chosen(runs, ["leaks"]) == [FAULT, twin]
    with pytest.raises(UsageError, match="leeks"):
        selftest.chosen(runs, ["leeks"])


def test_nothing_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "entry_points", lambda group: [])  # noqa: ARG005
    with pytest.raises(UsageError, match="make setup"):
        selftest.planted()


def shown(*seen: Seen) -> str:
    console = Console(file=io.StringIO(), width=80)
    selftest_show.render(seen, 12.0, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_shows_what_was_found() -> None:
    twin = Planted("leaks", "a leak", dict, {"quick": True}, twin=True)
    text = shown(
        check(FAULT, report(finding()), 0.5), check(twin, report(), 0.5), check(GREEN, report(), 1)
    )
    row = next(line for line in text.splitlines() if line.startswith("leaks"))
    assert row.split()[1:] == [
        "steady-growth",
        "leak-per-frame",
        "found",
        "right",
        "green",
        "0.5",
        "s",
    ]
    assert "caught 1 of 1 planted; 0 false alarms on 2 that are right" in text


def test_the_table_shows_what_is_off_and_says_why() -> None:
    missed, wrong = check(FAULT, report(), 0.5), check(FAULT, report(finding(8)), 0.5)
    alarm = check(GREEN, report(finding()), 1)
    text = shown(missed, wrong, alarm)
    assert "MISSED" in text
    assert "WRONG" in text
    assert "leaks: steady-growth: leak-per-frame at leaks.py:7 was to be said, but:" in text
    assert "  leak-per-frame at /faults/leaks.py:8: it leaks" in text
    assert "fine: nothing was to be said, but:" in text
    assert "caught 0 of 2 planted; 1 false alarm on 1 that are right" in text
