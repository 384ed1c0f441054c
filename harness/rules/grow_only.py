"""grow-only: buffers grow on a record step and on no other."""

from __future__ import annotations

from harness.contract import Contract
from harness.owners import BACKEND
from harness.result import RuleResult
from harness.rules.evidence import Evidence
from harness.timeline import PAGE, Timeline
from harness.words import plural

ID = "grow-only"


def check(timeline: Timeline, contract: Contract) -> RuleResult:
    """Measured: blocks of a page or more that the backend allocated on steps that are no record."""
    if contract.level == "zero-growth":
        why = "level zero-growth bounds what stays alive, not what is allocated"
        return RuleResult(ID, "skipped", 0, 0, why)
    evidence, growths = Evidence(timeline), 0
    for number in timeline.steps:
        step = timeline.intervals[number].step
        assert step is not None
        for site, births in timeline.births[number].items():
            if site.owner != BACKEND or not births.buffers:
                continue
            if step.phase == "record":
                growths += 1
            else:
                evidence.add(site, number, births.buffers, births.buffer_bytes)
    return RuleResult(
        ID,
        "fail" if evidence.count else "pass",
        evidence.count,
        0,
        f"blocks of {PAGE:,} bytes or more on steps that are no record step; "
        f"{plural(growths, 'growth')} on record steps",
        evidence.findings(
            lambda line: ("regrowth", "though an earlier step needed as much")  # noqa: ARG005
        ),
    )
