"""Several workloads in one traced process are judged as each alone would be."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.batch import ONLY_IN_COMPANY, measure, verify_batch
from harness.contract import Contract
from harness.errors import UsageError
from harness.result import Report
from harness.verify import verify
from tests.harness.core.helpers import failed

PLANTED = Path(__file__).parents[1] / "core" / "planted.py"
COMPANY = Path(__file__).with_name("company.py")
WORKLOADS = ["8x8@25*12", "64x48:bgr24@100*20,16x16@30*9", "3x5@25*1"]


def counted(report: Report) -> bytes:
    """All that is exact and does not depend on what was there before."""
    steps = [msgspec.structs.replace(step, live_by_owner={}, live_bytes=0) for step in report.steps]
    later = [step for step in steps if step.cycle > 1]  # the first cycle has first use in it
    return msgspec.json.encode([report.verdict, report.rules, later, report.replay])


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_counts_are_those_of_runs_alone(mode: str) -> None:
    options = {"mode": mode}
    reports = verify_batch("identity", WORKLOADS, options=options)
    alone = [verify("identity", text, options=options, quick=True) for text in WORKLOADS]
    assert [report.workload for report in reports] == WORKLOADS
    assert [counted(report) for report in reports] == [counted(report) for report in alone]


def test_the_one_that_fails_is_named_with_its_replay() -> None:
    target = f"{COMPANY}:open_wide"
    reports = verify_batch(target, ["8x8@25*12", "9x8@25*12", "8x8@25*13"])
    assert [report.verdict for report in reports] == ["pass", "fail", "pass"]
    assert failed(reports[1]) == ["steady-allocations"]
    assert "--workload '9x8@25*12'" in reports[1].replay


def test_one_that_breaks_off_is_no_verdict_and_the_rest_goes_on() -> None:
    reports = verify_batch(f"{COMPANY}:open_fragile", ["8x8@25*2", "9x8@25*2", "8x8@25*3"])
    assert [report.verdict for report in reports] == ["pass", "no-verdict", "pass"]
    assert reports[1].failure is not None
    assert reports[1].failure.kind == "crashed"


def test_what_needs_company_to_fail_says_so() -> None:
    reports = verify_batch(f"{COMPANY}:open_remembering", ["8x8@25*12", "8x8@25*12"])
    assert [report.verdict for report in reports] == ["pass", "fail"]
    assert reports[1].notes[-1] == ONLY_IN_COMPANY


def test_a_part_knows_what_is_alive_at_each_step() -> None:
    parts = measure(f"{PLANTED}:Kept", ["8x8@25*12", "8x8@25*12"], Contract(), cycles=1)
    rises = []
    for part in parts:
        live = part.timeline.live("backend")
        rises.append([live[n] - live[n - 1] for n in part.timeline.steps[9:]])
    assert rises[0] == rises[1]
    assert set(rises[0]) == {4 * 4 + 296}  # four floats, their storage and tensor


def test_bad_input_is_refused_before_anything_is_judged() -> None:
    with pytest.raises(UsageError, match="nowhere"):
        verify_batch("nowhere.py:nothing", WORKLOADS)
    with pytest.raises(UsageError, match="frame rate is missing"):
        verify_batch("identity", ["8x8"])
