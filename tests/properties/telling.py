"""What a failing property says: the workload, its replay, each finding, where the report is."""

from __future__ import annotations

from pathlib import Path

from harness.report.json import to_json
from harness.result import Report

REPORTS = Path(__file__).parents[2] / "reports" / "properties"


def save(report: Report, name: str) -> Path:
    """Write a report; the shrunk example is tried last, so that its report is what stays."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    path = REPORTS / f"{name}.json"
    path.write_text(to_json(report))
    return path


def require_pass(report: Report, name: str) -> None:
    """Raise AssertionError unless every rule is fulfilled."""
    failed = [rule for rule in report.rules if rule.status == "fail"]
    if report.failure is None and not failed:
        return
    lines = [f"{report.target} fails on {report.workload}", f"  replay: {report.replay}"]
    if report.failure is not None:
        lines.append(f"  {report.failure.kind}: {report.failure.text}")
    for rule in failed:
        lines += [f"  {rule.rule}: {finding.text}" for finding in rule.findings] or [
            f"  {rule.rule}: {rule.measured} measured, {rule.limit} allowed ({rule.why})"
        ]
    lines += [f"  note: {note}" for note in report.notes]
    raise AssertionError("\n".join([*lines, f"  report: {save(report, name)}"]))
