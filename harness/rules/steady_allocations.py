"""steady-allocations: on a steady step, nobody whom the level counts allocates anything."""

from __future__ import annotations

from harness.contract import Contract
from harness.result import RuleResult
from harness.rules.evidence import Evidence
from harness.timeline import Timeline

ID = "steady-allocations"


def check(timeline: Timeline, contract: Contract) -> RuleResult:
    """Measured: allocations on all steady steps together."""
    if contract.level == "zero-growth":
        why = "level zero-growth allows allocations on steady steps if they are given back"
        return RuleResult(ID, "skipped", 0, 0, why)
    steady = [n for n in timeline.steps if _is_steady(timeline, n)]
    if not steady:
        why = "the workload has no steady step: every frame is within a warm-up"
        return RuleResult(ID, "skipped", 0, 0, why)
    evidence = Evidence(timeline)
    for number in steady:
        for site, births in timeline.births[number].items():
            if contract.counts(site.owner):
                evidence.add(site, number, births.count, births.bytes)
    return RuleResult(
        ID,
        "fail" if evidence.count else "pass",
        evidence.count,
        0,
        f"allocations on {len(steady):,} steady steps",
        evidence.findings("where a warm backend needs none"),
    )


def _is_steady(timeline: Timeline, number: int) -> bool:
    step = timeline.intervals[number].step
    return step is not None and step.phase == "steady"
