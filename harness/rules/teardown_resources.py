"""teardown-resources: threads, descriptors, children, mappings and shared memory are given back.

What the first cycle leaves is first use (a library that was loaded, a pool made for the process's
life). What later cycles add to it is held against the backend.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.contract import Contract
from harness.probes.resources import KINDS
from harness.result import Finding, RuleResult
from harness.timeline import Timeline

ID = "teardown-resources"
_ONE = {
    "threads": "thread",
    "descriptors": "file descriptor",
    "children": "child process",
    "mappings": "mapping",
    "shared_memory": "shared memory segment",
}


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: resources that are there after the last cycle and were not after the first."""
    ledger = timeline.resources
    if len(ledger) < 2:
        return RuleResult(ID, "skipped", 0, 0, "no cycle came to its end")
    # With one cycle alone, nothing can be put down to first use.
    before, after = ledger[1] if len(ledger) > 2 else ledger[0], ledger[-1]
    findings = tuple(
        _finding(kind, name, count, cycles=len(ledger) - 1)
        for kind in KINDS
        for name, count in _more(before, after, kind).items()
    )
    left = sum(finding.count for finding in findings)
    return RuleResult(
        ID,
        "fail" if left else "pass",
        left,
        0,
        "threads, descriptors, children, mappings and shared memory that later cycles added",
        findings,
    )


def _more(before: dict[str, Any], after: dict[str, Any], kind: str) -> Counter[str]:
    return Counter(after[kind]) - Counter(before[kind])


def _finding(kind: str, name: str, count: int, cycles: int) -> Finding:
    many = f"{count} {_ONE[kind]}{'' if count == 1 else 's' if _ONE[kind][-1] != 's' else 'es'}"
    text = f"{many} left behind after {cycles} cycles: {name}"
    return Finding("backend", "", 0, name, (), count, 0, 0, (), kind, text)
