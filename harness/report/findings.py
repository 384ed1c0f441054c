"""Findings for people: the sentence, the place with its source, the numbers, the stack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.report.excerpt import excerpt
from harness.report.text import clean, ranges
from harness.result import Finding, Report, RuleResult, StackFrame
from harness.words import plural

MOST_FINDINGS = 10
"""shown of one rule; the JSON report has all"""
MOST_STACK = 12
"""innermost frames shown of one stack"""
MOST_WAYS = 4
"""ways through native code shown of one place"""

_UNITS = {
    "steady-allocations": "allocation",
    "teardown-resources": "resource",
    "output": "result",
    "error-path": "case",
    "bounded-in-flight": "frame",
}


def render_findings(report: Report, console: Console) -> None:
    """Print what was found, rule by rule, the source and stack of a place once."""
    seen: set[tuple[StackFrame, ...]] = set()
    for rule in report.rules:
        if rule.status != "fail":
            continue
        if not rule.findings:
            _heading(console, rule, f"measured {rule.measured:,}, limit {rule.limit:,}")
            console.print(Text("  " + clean(rule.why)))
        for finding in rule.findings[:MOST_FINDINGS]:
            _heading(console, rule, finding.text or rule.why)
            place_and_stack = ((finding.function, finding.file, finding.line), *finding.stack)
            _where(console, finding, known=place_and_stack in seen)
            console.print(Text("  " + numbers(rule, finding)))
            if place_and_stack not in seen:
                _stack(console, finding)
            seen.add(place_and_stack)
        if len(rule.findings) > MOST_FINDINGS:
            more = plural(len(rule.findings) - MOST_FINDINGS, "more finding")
            console.print(Text(f"\n  and {more} of {rule.rule}: --json FILE keeps all of them"))


def place(file: str, line: int) -> str:
    """`file:line`, the file relative to the current folder if it lies in it."""
    try:
        shown = str(Path(file).relative_to(Path.cwd()))
    except ValueError:
        shown = file
    return clean(f"{shown}:{line}" if line > 0 else shown)


def _heading(console: Console, rule: RuleResult, sentence: str) -> None:
    console.print()
    console.print(
        Text.assemble((clean(rule.rule), "bold red"), ": ", (clean(sentence), "bold")),
    )


def _where(console: Console, finding: Finding, *, known: bool) -> None:
    if not finding.file:
        return
    where = Text.assemble("  ", (place(finding.file, finding.line), "bold cyan"))
    if finding.function:
        where.append(f" in {clean(finding.function)}")
    if known:
        where.append(" (shown above)")
    console.print(where, soft_wrap=True)
    for text in () if known else _source(finding.file, finding.line):
        console.print(text, no_wrap=True, overflow="ellipsis")


def numbers(rule: RuleResult, finding: Finding) -> str:
    """How much was found, whose it is, and on which frames."""
    amount = plural(finding.count, _UNITS.get(rule.rule, "block"))
    if finding.bytes:
        amount += f", {plural(finding.bytes, 'byte')}"
    parts = [amount, f"owner {clean(finding.owner)}"]
    if finding.kind:
        parts.append(f"kind {clean(finding.kind)}")
    if finding.frames:
        parts.append(f"{plural(len(finding.frames), 'frame')} ({ranges(finding.frames)})")
    if finding.cycle:
        parts.append(f"first seen in cycle {finding.cycle}")
    return "; ".join(parts)


def _source(file: str, line: int) -> Iterator[Text]:
    """The line of a finding and its neighbours, if the file can be read."""
    lines = excerpt(file, line)
    width = len(str(lines[-1].number)) if lines else 0
    for number, text, is_found in lines:
        yield Text(
            f"  {'>' if is_found else ' '} {number:>{width}} | {text}",
            style="bold" if is_found else "dim",
        )


def _stack(console: Console, finding: Finding) -> None:
    if finding.native:
        console.print(Text("  by native code, innermost first:"))
    for way in finding.native[:MOST_WAYS]:
        console.print(Text(f"    {clean(way)}"), no_wrap=True, overflow="ellipsis")
    if len(finding.native) > MOST_WAYS:
        console.print(Text(f"    and {plural(len(finding.native) - MOST_WAYS, 'more way')}"))
    if not finding.stack:
        return
    console.print(Text("  stack, innermost first:"))
    for function, file, line in finding.stack[:MOST_STACK]:
        console.print(Text(f"    {clean(function)}  {place(file, line)}"), soft_wrap=True)
    if len(finding.stack) > MOST_STACK:
        outer = plural(len(finding.stack) - MOST_STACK, "outer frame")
        console.print(Text(f"    and {outer}"))
