"""The violations of a report, held line by line against those that the baseline has."""

from __future__ import annotations

from pathlib import Path

import msgspec

from harness.gate.counts import Counts, site_count, totals, violation, violations
from harness.result import BaselineState, Finding, Report, RuleResult


def marked(report: Report, old: Counts, root: Path) -> Report:
    """The report with each finding told as new, updated or unchanged; in each rule unchanged last.

    The report as it is where violations were recorded without their lines, as once they were.
    """
    if old.rules and not old.violations:
        return report
    before, now = totals(old.violations), totals(violations(report, root))

    def state(rule: RuleResult, finding: Finding) -> BaselineState:
        key = site_count(violation(rule, finding), finding, root).key
        if key not in before:
            return "new"
        (blocks, size), (more, larger) = before[key], now[key]
        return "updated" if more > blocks or larger > size else "unchanged"

    def held(rule: RuleResult) -> RuleResult:
        found = [msgspec.structs.replace(f, baseline=state(rule, f)) for f in rule.findings]
        found.sort(key=lambda finding: finding.baseline == "unchanged")
        return msgspec.structs.replace(rule, findings=tuple(found))

    rules = tuple(held(rule) if rule.status == "fail" else rule for rule in report.rules)
    return msgspec.structs.replace(report, rules=rules)


def unchanged(report: Report) -> int:
    """How many violations are recorded as they are."""
    return sum(f.baseline == "unchanged" for rule in report.rules for f in rule.findings)
