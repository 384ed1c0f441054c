"""teardown-resources: threads, descriptors, children, mappings and shared memory are given back.

What the first cycle leaves is first use (a library that was loaded, a pool made for the process's
life). What later cycles add to it is held against the backend.

Memory mapped without a file and by a call that no tracer sees, as through ctypes, shows in the
total of such memory alone. That also grows when the interpreter takes another arena. So it counts
only if each later cycle adds the same, and if teardown-release does not see it already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec

from harness.contract import Contract
from harness.probes.resources import KINDS, Held
from harness.result import Finding, RuleResult
from harness.timeline import Timeline

ID = "teardown-resources"
CYCLES_NEEDED = 3
"""to tell anonymous memory that each cycle leaves from an arena that one happened to need"""
_SHOWN = 4
_PLURALS = {"child process": "child processes"}


def check(timeline: Timeline, contract: Contract) -> RuleResult:  # noqa: ARG001 - the same at every level
    """Measured: resources that are there after the last cycle and were not after the first."""
    ledger = timeline.resources
    if len(ledger) < 2:
        return RuleResult(ID, "skipped", 0, 0, "no cycle came to its end")
    # With one cycle alone, nothing can be put down to first use.
    before, after = ledger[1] if len(ledger) > 2 else ledger[0], ledger[-1]
    cycles = len(ledger) - 1
    findings = [
        _finding(kind, new, cycles)
        for kind in KINDS
        for new in _more(_held(before, kind), _held(after, kind))
    ]
    findings += _executable(before, after, cycles)
    if not any(finding.kind == "thread" for finding in findings):  # a thread's stack is such too
        findings += _anonymous(timeline)
    left = sum(finding.count for finding in findings)
    return RuleResult(
        ID,
        "fail" if left else "pass",
        left,
        0,
        "threads, descriptors, children, mappings and shared memory that later cycles added",
        tuple(findings),
    )


def _held(ledger: dict[str, Any], kind: str) -> list[Held]:
    return [msgspec.convert(entry, Held) for entry in ledger[kind]]


def _more(before: list[Held], after: list[Held]) -> list[list[Held]]:
    """What was added, by name; of equal names those first that were not there before."""
    added = Counter(held.name for held in after) - Counter(held.name for held in before)
    if all(held.kind == "shared memory segment" for held in after):
        # Each has a name of its own, so that many of them are still one fault.
        new = [held for held in after if held.name in added]
        return [new] if new else []
    known = set(before)
    return [
        sorted((held for held in after if held.name == name), key=known.__contains__)[:count]
        for name, count in added.items()
    ]


def _finding(kind: str, new: list[Held], cycles: int) -> Finding:
    first = new[0]
    what = first.kind or kind
    many = f"{len(new)} {what if len(new) == 1 else _PLURALS.get(what, what + 's')}"
    if any(held.name != first.name for held in new):
        named = _some([held.name for held in new])
    else:
        details = [held.detail for held in new if held.detail and held.detail != first.name]
        named = first.name + (f" ({_some(details)})" if details else "")
    where = ""
    if first.line:
        where = f", at {first.file}:{first.line} in {first.function}"
    elif first.function:
        where = f", in {first.function}"
    return Finding(
        owner="backend",
        file=first.file,
        line=first.line,
        function=first.function or first.name,
        frames=(),
        count=len(new),
        bytes=0,
        cycle=0,
        stack=((first.function, first.file, first.line),) if first.line else (),
        kind=what.replace(" ", "-"),
        text=f"{many} left behind after {cycles} cycles: {named}{where}",
    )


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _executable(before: dict[str, Any], after: dict[str, Any], cycles: int) -> list[Finding]:
    """Code that was made at run time."""
    grown = after.get("executable_bytes", 0) - before.get("executable_bytes", 0)
    if grown <= 0:
        return []
    text = f"{grown:,} bytes of executable memory without a file left behind after {cycles} cycles"
    kind = "executable-mapping"
    return [Finding("backend", "", 0, "mmap", (), 1, grown, 0, (), kind, text)]


def _anonymous(timeline: Timeline) -> list[Finding]:
    """Anonymous memory that each cycle after the first added without a traced call."""
    ledger: Sequence[dict[str, Any]] = timeline.resources
    totals = [held.get("untraced_bytes", 0) for held in ledger[1:]]
    growth = [after - before for before, after in pairwise(totals)]
    if len(totals) < CYCLES_NEEDED or growth[0] <= 0 or len(set(growth)) > 1:
        return []
    text = (
        f"{growth[0]:,} bytes of anonymous memory left mapped by each cycle after the first; no "
        "traced call accounts for it: it was mapped through a function pointer, as with ctypes"
    )
    return [Finding("backend", "", 0, "mmap", (), 1, sum(growth), 0, (), "anonymous-mapping", text)]
