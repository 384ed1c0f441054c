"""The gate's result for a terminal: what changed, where, and what to run next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from harness.gate.counts import HOLDS
from harness.gate.metrics import LEVEL
from harness.gate.results import EXIT, CaseResult, Difference, GateResult, SiteChange, Status
from harness.report.text import clean
from harness.words import plural

STYLES: dict[Status, str] = {
    "same": "green",
    "recorded": "green",
    "better": "bold green",
    "unknown": "bold yellow",
    "no-verdict": "bold yellow",
    "stale": "bold red",
    "missing": "bold red",
    "changed": "bold red",
    "worse": "bold red",
}
AS_RECORDED: tuple[Status, ...] = ("same", "recorded")
MOST_DIFFERENCES = 12
"""of one case; gate.json has all"""
MOST_SITES = 5
MEANING: dict[Status, str] = {
    "same": "as recorded",
    "recorded": "recorded",
    "better": "better than recorded",
    "unknown": "not recorded for this environment",
    "no-verdict": "without a verdict",
    "stale": "recorded, but not declared",
    "missing": "not in the baseline",
    "changed": "declared otherwise than recorded",
    "worse": "worse than recorded",
}


def render(result: GateResult, console: Console, *, quiet: bool) -> None:
    """Print every case that is not simply as it was, then the outcome in one line."""
    told: set[frozenset[tuple[str, str]]] = set()
    for case in () if quiet else told_of(result):
        if case.status in AS_RECORDED:
            console.print(Text(in_one_line(case)), soft_wrap=True)
            continue
        # One line of code may be behind all cases: it is told in full where it is told first.
        places = frozenset((site.place, site.code) for site in case.sites)
        else_said = [s for s in case.why if not any(place in s for place, _ in places)]
        _case(case, console, known=bool(places) and places in told and not else_said)
        told.add(places)
    console.print(Text(headline(result), style="bold"), soft_wrap=True)


def told_of(result: GateResult) -> list[CaseResult]:
    """The cases that are told: all but those simply as they were. What is recorded comes last."""
    told = [case for case in result.results if case.status not in AS_RECORDED or case.why]
    return sorted(told, key=lambda case: case.status in AS_RECORDED)


def in_one_line(case: CaseResult) -> str:
    """What is said of a case that is as recorded."""
    return clean(f"{case.name}: {'; '.join(case.why)}")


def headline(result: GateResult) -> str:
    """The outcome in one line."""
    counted: Counter[Status] = Counter(case.status for case in result.results)
    parts = [
        f"{counted[status]:,} {MEANING[status]}" for status in reversed(EXIT) if counted[status]
    ]
    word = {0: "PASS", 1: "FAIL", 3: "NO VERDICT"}[result.exit_code]
    of = f" (shard {result.shard[0]} of {result.shard[1]})" if result.shard != (1, 1) else ""
    remedy = ""
    if counted["better"] and result.exit_code == (1 if result.strict else 0):
        remedy = "; record what is better: steadyframe gate --update"
    return (
        f"{word}  {plural(len(result.results), 'case')}{of}: {', '.join(parts) or 'none'}{remedy}"
    )


def _case(case: CaseResult, console: Console, *, known: bool) -> None:
    line = Text(f"{clean(case.name)}: ", style="bold")
    line.append(MEANING[case.status], style=STYLES[case.status])
    if known:
        line.append(f", by {clean(case.sites[0].place)} as above")
    console.print(line, soft_wrap=True)
    if known:
        return
    for text in lines(case):
        console.print(Text(text), soft_wrap=True)
    console.print()


def lines(case: CaseResult, rest: str = ", in gate.json") -> Iterator[str]:
    """What is said of a case below its name; `rest` is where all of a long list is."""
    for sentence in case.why:
        yield f"  {clean(sentence)}"
    shown = [d for d in case.differences if d.worse or (case.status != "worse" and d.differs)]
    for difference in shown[:MOST_DIFFERENCES]:
        yield f"  {in_words(difference)}"
    if len(shown) > MOST_DIFFERENCES:
        yield f"  and {plural(len(shown) - MOST_DIFFERENCES, 'more difference')}{rest}"
    if equal := sum(not difference.differs for difference in case.differences):
        yield f"  {plural(equal, 'other count')} of it equal those recorded elsewhere"
    for site in case.sites[:MOST_SITES]:
        yield from _site(site)
    if len(case.sites) > MOST_SITES:
        yield f"  and {plural(len(case.sites) - MOST_SITES, 'more line')} of code{rest}"
    if case.recorded:
        yield f"  {plural(case.recorded, 'recorded violation')} unchanged"
    if case.command:
        label = "Look closer" if case.status in ("worse", "no-verdict") else "Record"
        yield f"  {label}: {clean(case.command)}"


def in_words(difference: Difference) -> str:
    """`steady-allocations, backend: 0 -> 1 allocations per steady step of 128x128 x4`."""
    if difference.rule == LEVEL:
        before, after = (HOLDS[-1 - lost] for lost in (difference.before, difference.after))
        return f"strictest level that holds: {before} -> {after}"
    rule, owner, what = map(clean, (difference.rule, difference.owner, difference.what))
    return f"{rule}, {owner}: {difference.before:,} -> {difference.after:,} {what}"


def _site(site: SiteChange) -> Iterator[str]:
    yield f"    {clean(site.place)} ({clean(site.kind)}, owner {clean(site.owner)})"
    if site.code:
        yield f"      > {clean(site.code)}"
    (blocks, size), (more, larger) = site.before, site.after
    yield (
        f"      {blocks:,} -> {more:,} blocks, {size:,} -> {larger:,} bytes"
        + (f"; frames {site.frames}" if site.frames else "")
    )
    for place in site.stack[1:]:
        yield f"      called from {clean(place)}"
