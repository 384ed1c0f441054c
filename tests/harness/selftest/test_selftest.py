"""The self-test itself: planted faults are found in fresh processes, and a dead rule is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from harness import cli, selftest
from harness.contract import Contract
from harness.result import Report, RuleResult
from harness.rules import RULES
from harness.selftest import Planted, Seen
from harness.timeline import Timeline
from harness.verify import verify

RUNS = selftest.planted()


def faults_of(rule: str) -> list[Planted]:
    return [run for run in RUNS if run.rule == rule]


def cheapest_fault_of(rule: str) -> Planted:
    return max(faults_of(rule), key=lambda run: run.asked["quick"])


def off(seen: list[Seen]) -> list[tuple[str, tuple[str, ...]]]:
    return [(each.planted.name, each.said) for each in seen if not each.right]


class Cheapest:
    """A fault of each rule and its twin: what was seen, what was told, and the reports."""

    def __init__(self) -> None:
        names = {cheapest_fault_of(rule).name for rule in RULES}
        self.runs = [run for run in RUNS if run.name in names]
        self.reports: dict[object, Report] = {}
        """by factory"""
        self.told: list[Seen] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selftest, "verify", self._verify)
            self.seen = selftest.run_all(self.runs, 2, self.told.append)

    def _verify(self, factory: Callable[..., Any], **asked: Any) -> Report:
        self.reports[factory] = verify(factory, **asked)
        return self.reports[factory]


@pytest.fixture(scope="module")
def cheapest() -> Cheapest:
    """All of them, run once."""
    return Cheapest()


def test_one_fault_of_each_rule_and_its_twin(cheapest: Cheapest) -> None:
    assert off(cheapest.seen) == []
    assert [each.planted for each in cheapest.seen] == cheapest.runs
    assert len(cheapest.told) == len(cheapest.runs)


def test_small_objects_that_are_kept_are_found_where_the_trace_sees_nothing() -> None:
    # Of three items: such a tuple once came from a free list that the instrument itself had filled.
    runs = selftest.chosen(RUNS, ["tuples-kept"])
    assert off(selftest.run_all(runs, 2, lambda _: None)) == []


@pytest.mark.soak
def test_all_of_it() -> None:
    assert off(selftest.run_all(RUNS, 2, lambda _: None)) == []


def always_passes(rule: str) -> Callable[[Timeline, Contract], RuleResult]:
    def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001
        return RuleResult(rule, "pass", 0, 0, "nothing is looked at")

    return check


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_always_passes_is_noticed(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, rule, always_passes(rule))
    (seen,) = selftest.run_all([cheapest_fault_of(rule)], 1, lambda _: None)
    assert not seen.found


@pytest.mark.soak
@pytest.mark.parametrize("rule", RULES)
def test_every_fault_of_a_rule_needs_it(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, rule, always_passes(rule))
    # What screening sees grow, and a crash at an early close, are added to what these rules say.
    added_to = ("steady-growth", "teardown-release")
    runs = [run for run in faults_of(rule) if run.asked["quick"] or rule not in added_to]
    seen = selftest.run_all(runs, 2, lambda _: None)
    assert [each.planted.name for each in seen if each.found] == []


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_under_another_name_is_noticed(rule: str, cheapest: Cheapest) -> None:
    fault = cheapest_fault_of(rule)
    report = cheapest.reports[fault.factory]
    rules = tuple(
        msgspec.structs.replace(one, rule=f"{rule}-2") if one.rule == rule else one
        for one in report.rules
    )
    seen = selftest.check(fault, msgspec.structs.replace(report, rules=rules), 0.1)
    assert not seen.found
    assert any(f"{rule}-2" in words for words in seen.said)


def test_the_command_exits_with_0_if_all_is_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["selftest", "--only", "two-buffers-per-frame", "--jobs", "2"]) == 0
    assert "caught 1 of 1 planted; 0 false alarms on 1" in capsys.readouterr().out


def test_the_command_exits_with_1_if_a_fault_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(RULES, "steady-allocations", always_passes("steady-allocations"))
    assert cli.main(["selftest", "--only", "two-buffers-per-frame", "--quiet"]) == 1
    assert capsys.readouterr().out.startswith("caught 0 of 1 planted")


def test_the_command_refuses_a_name_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["selftest", "--only", "no-such-fault"]) == 2
    assert "no-such-fault" in capsys.readouterr().err
