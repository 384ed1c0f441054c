"""prompt-release: what a backend owns is freed by reference count, without the garbage collector.

The collector is off during the run. It runs after the first cycle, whose garbage counts as first
use, and after the last. What it frees then was kept by a reference cycle: in production it stays
until the collector happens to run, and large blocks do not make it run any sooner.
"""

from __future__ import annotations

from harness.contract import Contract
from harness.owners import HARNESS, INTERPRETER
from harness.result import Finding, RuleResult
from harness.rules.evidence import Evidence
from harness.timeline import Timeline

ID = "prompt-release"
KIND = "delayed-release"


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: bytes that only the collector freed, or else objects of the backend's types."""
    collect = len(timeline.intervals) - 1
    evidence = Evidence(timeline)
    for span in timeline.spans:
        if span.died == collect and span.site.owner not in (HARNESS, INTERPRETER):
            evidence.add(span.site, span.born, span.count, span.bytes)
    garbage = timeline.garbage
    chain = " -> ".join(garbage.cycle) or "a reference cycle"
    findings = evidence.findings(
        lambda line: (KIND, f"freed only by the garbage collector: kept by {chain}")  # noqa: ARG005
    )
    if garbage.own and not findings:
        types = ", ".join(f"{count:,} {name}" for name, count in garbage.types.items())
        text = f"freed only by the garbage collector: {types}; kept by {chain}"
        findings = (
            Finding(
                "backend",
                "",
                0,
                next(iter(garbage.types), ""),
                (),
                garbage.own,
                0,
                0,
                (),
                KIND,
                text,
            ),
        )
    return RuleResult(
        ID,
        "fail" if findings else "pass",
        evidence.bytes or garbage.own,
        0,
        "bytes, or objects of the backend's types, that only the garbage collector freed",
        findings,
    )
