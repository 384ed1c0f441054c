"""From what was measured to a verdict: all rules, and what screening adds to them."""

from __future__ import annotations

import msgspec

from harness.beside import Beside
from harness.contract import Contract
from harness.naming import Namer, merged
from harness.result import Report, RuleResult
from harness.rules import RULES, steady_growth
from harness.rules.teardown_release import first_use
from harness.screening import Growth, Pattern, find
from harness.timeline import Timeline

_SCREENED: dict[str, tuple[Pattern, ...]] = {
    "steady-growth": ("frame", "change"),
    "teardown-release": ("cycle",),
}
"""patterns of growth that a rule judges besides what it sees in the trace"""


def judge(
    report: Report, contract: Contract, timeline: Timeline, shown: Beside, namer: Namer
) -> None:
    """Hold a complete run to its contract, and fill in the verdict, the rules and their notes."""
    if shown.failure is not None:
        text = f"traced it came to its end, but at native speed {shown.failure.text}"
        report.failure = msgspec.structs.replace(shown.failure, text=text)
        return
    timeline.outputs = shown.outputs
    timeline.errors = shown.errors
    timeline.burst = shown.burst
    timeline.inputs_alive = shown.inputs_alive
    named = [namer.name(growth, timeline) for growth in _grown(report, shown)]
    report.notes += steady_growth.notes(timeline)
    report.notes += tuple(one.failure for one in named if one.failure)
    report.teardown = msgspec.structs.replace(
        report.teardown, first_use_survivors=first_use(timeline)
    )
    results: list[RuleResult] = []
    for name, rule in RULES.items():
        result = rule(timeline, contract)
        if patterns := _SCREENED.get(name):
            result = merged(result, named, patterns)
        results.append(result)
    report.rules = tuple(results)
    report.verdict = "fail" if any(result.status == "fail" for result in results) else "pass"


def _grown(report: Report, shown: Beside) -> list[Growth]:
    """What screening saw grow; nothing of the heap where its numbers are not those of malloc."""
    if shown.screening is None:
        return []
    foreign = "allocator" in report.environment and report.environment["allocator"] != "glibc"
    return [
        growth for growth in find(shown.screening) if not (foreign and growth.field == "heap_bytes")
    ]
