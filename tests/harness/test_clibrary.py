"""Backends in C as targets: `c:PATH`, with findings that name the line of C."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.result import Finding, Report
from harness.verify import verify
from tests.backend.c.compiled import compiled, line_of

WORKLOAD = "64x48@25*20,32x24@25*12,64x48@25*12"


def verified(folder: Path, *planted: str) -> Report:
    return verify(f"c:{compiled(folder, *planted)}", WORKLOAD, level="zero-malloc", quick=True)


def found(report: Report, rule: str) -> list[Finding]:
    return [finding for each in report.rules if each.rule == rule for finding in each.findings]


def test_backend_in_c_with_a_grow_only_buffer_passes_at_zero_malloc(tmp_path: Path) -> None:
    report = verified(tmp_path)
    assert report.verdict == "pass"
    assert {step.allocations for step in report.steps if step.phase == "steady"} == {0}


@pytest.mark.parametrize(
    ("fault", "rule", "kind"),
    [
        ("CHURN", "steady-allocations", "turnover"),
        ("LEAK", "steady-growth", "leak-per-frame"),
        ("LEAK", "steady-allocations", "kept"),
    ],
)
def test_fault_in_c_is_found_and_its_line_named(
    tmp_path: Path, fault: str, rule: str, kind: str
) -> None:
    report = verified(tmp_path, fault)
    assert report.verdict == "fail"
    (finding,) = found(report, rule)
    assert finding.kind == kind
    assert finding.function == "execute"
    (way,) = finding.native
    assert way.startswith(f"sf_execute (inverts.c:{line_of(fault)})")


def test_buffer_that_close_keeps_is_a_leak_per_cycle(tmp_path: Path) -> None:
    (finding,) = found(verified(tmp_path, "KEPT"), "teardown-release")
    assert (finding.kind, finding.count, finding.bytes) == ("leak-per-cycle", 2, 2 * 64 * 48 * 3)


def test_result_without_data_is_told_and_no_verdict(tmp_path: Path) -> None:
    report = verified(tmp_path, "NODATA")
    assert report.verdict == "no-verdict"
    assert report.failure is not None
    assert "its result is no picture: 64x48:rgb24, data NULL" in report.failure.text
