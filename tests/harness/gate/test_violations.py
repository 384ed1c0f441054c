"""Violations line by line: what is new comes first, what is recorded is only counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.gate.case import Case
from harness.gate.compare import compare
from harness.gate.counts import counts
from harness.gate.fingerprint import fingerprint
from harness.gate.results import CaseResult
from harness.result import Report, RuleResult
from tests.harness.gate.helpers import ENVIRONMENT, finding, report

ROOT = Path("/project")
HERE = fingerprint(ENVIRONMENT)


def leaks(*lines: dict[str, Any]) -> Report:
    """A report of leaks, each at a function of its name, the text that it is told by."""
    found = tuple(
        finding("leak-per-cycle", text=f"{line['function']} leaks", **line) for line in lines
    )
    rule = RuleResult("teardown-release", "fail", sum(f.bytes for f in found), 0, "", found)
    rules = tuple(r for r in report().rules if r.rule != rule.rule)
    return report(verdict="fail", rules=(*rules, rule))


def held(now: Report, old: Report) -> tuple[CaseResult, dict[str, str]]:
    """What is said, and each finding's state in the order of the report that comes with it."""
    case, recorded = Case("a", "mine.py:Backend"), counts(old, ROOT)
    result, marked = compare(case, now, counts(now, ROOT), HERE, [(HERE, recorded)], ROOT)
    return result, {f.function: f.baseline for r in marked.rules for f in r.findings}


OLD = {"function": "old", "bytes": 9000}


def test_a_new_one_is_told_first_and_alone_however_small_beside_those_recorded() -> None:
    many = [{"function": f"old{number}", "bytes": 9000} for number in range(5)]
    result, states = held(leaks(*many, {"function": "new", "bytes": 64}), leaks(*many))
    assert result.status == "worse"
    assert result.why == ("teardown-release: new leaks",)
    assert result.recorded == 5
    assert next(iter(states.items())) == ("new", "new")
    assert list(states.values())[1:] == ["unchanged"] * 5


@pytest.mark.parametrize("more", [{"bytes": 9001}, {"count": 3}])
def test_one_that_is_more_than_recorded_is_told(more: dict[str, Any]) -> None:
    result, states = held(leaks(OLD | more), leaks(OLD))
    assert result.why == ("teardown-release: old leaks",)
    assert (result.recorded, states) == (0, {"old": "updated"})


def test_one_that_moved_in_its_file_or_became_less_is_no_news() -> None:
    now = leaks(OLD | {"line": 70, "bytes": 8000}, {"function": "new", "bytes": 64_000})
    result, states = held(now, leaks(OLD))
    assert (result.recorded, states) == (1, {"new": "new", "old": "unchanged"})


def test_one_line_more_of_a_text_that_is_recorded_is_news() -> None:
    result, states = held(leaks(OLD, OLD | {"line": 70}), leaks(OLD))
    assert (result.recorded, states) == (0, {"old": "updated"})


def test_the_same_line_breaking_another_rule_is_news() -> None:
    now = leaks(OLD)
    growth = RuleResult("steady-growth", "fail", 9, 0, "", (finding("leak", text="it grows"),))
    now.rules = (growth, *now.rules)
    result, _ = held(now, leaks(OLD))
    assert result.why == ("steady-growth: it grows",)
    assert result.recorded == 1


def test_without_news_nothing_is_counted_apart() -> None:
    result, states = held(leaks(OLD), leaks(OLD))
    assert (result.status, result.recorded, states) == ("same", 0, {"old": "unchanged"})


def test_a_baseline_that_has_no_lines_of_violations_still_holds() -> None:
    old = msgspec.structs.replace(counts(leaks(OLD), ROOT), violations=())
    assert "violations" not in msgspec.to_builtins(old), "as those recorded before"
    now = leaks(OLD, {"function": "new", "bytes": 64})
    case = Case("a", "mine.py:Backend")
    result, marked = compare(case, now, counts(now, ROOT), HERE, [(HERE, old)], ROOT)
    assert result.why == ("teardown-release: old leaks", "teardown-release: new leaks")
    assert marked == now


def test_a_leak_in_place_of_one_as_large_is_no_rise_and_told() -> None:
    result, states = held(leaks({"function": "new", "bytes": 9000}), leaks(OLD))
    assert (result.status, states) == ("same", {"new": "new"})
    assert result.why == (
        "it violates zero-owned, as recorded: teardown-release",
        "1 finding at lines that are not recorded, in place of others",
    )
