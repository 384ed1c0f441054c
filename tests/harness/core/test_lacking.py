"""What numpy's lists lack by chance is nobody's; what they lack by rule is the backend's."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.result import Report
from harness.verify import verify
from tests.harness.core.helpers import failed, line_of

FILE = Path(__file__).with_name("planted_lists.py")


def run(name: str) -> Report:
    return verify(f"{FILE}:{name}", "32x32@25*60", quick=True)


@pytest.mark.parametrize("name", ["Idle", "Once"])
def test_a_few_blocks_that_a_list_lacked_are_not_held_against_a_backend_with_threads(
    name: str,
) -> None:
    report = run(name)
    assert report.verdict == "pass"
    steady = [step for step in report.steps if step.phase == "steady"]
    assert all(not step.by_owner for step in steady)


def test_a_line_that_takes_what_another_one_keeps_is_not_named() -> None:
    report = verify(f"{FILE}:Keeps", "32x32@25*40")
    assert failed(report) == ["steady-allocations", "steady-growth", "error-path"]
    lines = {finding.line for rule in report.rules for finding in rule.findings}
    assert lines == {line_of("here: keeps", FILE)}


@pytest.mark.parametrize(
    ("name", "place"), [("OnceAlone", "lacking"), ("Each", "each"), ("Large", "large")]
)
def test_without_threads_or_on_each_step_or_of_large_blocks_they_are(name: str, place: str) -> None:
    report = run(name)
    assert failed(report) == ["steady-allocations"]
    (finding,) = report.rules[0].findings
    assert finding.line == line_of(f"here: {place}", FILE)
