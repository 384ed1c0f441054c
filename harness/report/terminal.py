"""The report for people: the verdict in one sentence, why, and then the numbers behind it.

Everything is readable without colour. Nothing is ever given to rich as markup, and all text that a
backend had a hand in goes through `clean`.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.findings import place, render_findings
from harness.report.ledger import CAPTION, COLUMNS, ledger
from harness.report.summary import StepGroup, amounts, steady_groups
from harness.report.text import allocations, clean, ranges, sparkline
from harness.report.verdict import WORDS, sentence
from harness.result import Failure, Report
from harness.words import plural

MOST_ROWS = 16
"""rows of a table of step groups"""
MOST_SURVIVORS = 5
MOST_DETAIL = 30
"""last lines shown of a child's stderr or stacks"""

_STYLES = {"pass": "bold green", "fail": "bold red", "no-verdict": "bold yellow"}


def render(report: Report, console: Console) -> None:
    """Print the whole report."""
    console.print(verdict_line(report))
    if report.failure is not None:
        render_failure(report.failure, console)
    render_findings(report, console)
    _rules(report, console)
    _steady(report, console)
    _teardown(report, console)
    _survivors(report, console)
    _foot(report, console)


def verdict_line(report: Report) -> Text:
    """The verdict in one sentence."""
    return Text.assemble(
        (WORDS[report.verdict], _STYLES[report.verdict]), "  ", clean(sentence(report))
    )


def render_failure(failure: Failure, console: Console) -> None:
    """Print what happened, and the last that was heard."""
    console.print(Text(f"\n{clean(failure.text)}"))
    lines = clean(failure.detail, lines=True).strip("\n").split("\n")
    if not failure.detail.strip():
        return
    console.print(Text("\nWhat it said last:"))
    if len(lines) > MOST_DETAIL:
        console.print(Text(f"  ({plural(len(lines) - MOST_DETAIL, 'line')} before)"))
    for line in lines[-MOST_DETAIL:]:
        console.print(Text(f"  {line}"), soft_wrap=True)


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for column in columns:
        table.add_column(column)
    return table


def _rules(report: Report, console: Console) -> None:
    if not report.rules:
        return
    table = _table("\nRules", "rule", "status", "measured", "limit", "why")
    table.columns[0].no_wrap = True
    table.columns[2].justify = table.columns[3].justify = "right"
    for rule in report.rules:
        table.add_row(
            Text(clean(rule.rule)),
            Text(WORDS[rule.status], style=_STYLES.get(rule.status, "dim")),
            *amounts(rule),
            Text(clean(rule.why)),
        )
    console.print(table)


def _steady(report: Report, console: Console) -> None:
    groups = [(cycles, group) for cycles, in_cycle in steady_groups(report) for group in in_cycle]
    if not groups:
        return
    table = _table(
        "\nSteady steps", "cycles", "steps", "size", "frames", "each: allocations / bytes"
    )
    table.caption = "Steps in a row with equal counts share one row."
    for cycles, group in groups[:MOST_ROWS]:
        table.add_row(ranges(cycles), *_group_cells(group))
    console.print(table)
    if len(groups) > MOST_ROWS:
        more = plural(len(groups) - MOST_ROWS, "more row")
        console.print(Text(f"and {more}: --json FILE keeps every step"))


def _group_cells(group: StepGroup) -> tuple[str, str, str, Text]:
    counts = (f"{clean(owner)} {allocations(count, size)}" for owner, count, size in group.by_owner)
    return (
        ranges(group.steps),
        f"{group.width}x{group.height}",
        f"{group.burst:,}",
        Text("\n".join(counts)),
    )


def _teardown(report: Report, console: Console) -> None:
    rows = ledger(report.teardown)
    if not rows:
        return
    table = _table("\nTeardown", *COLUMNS)
    if report.teardown.native:
        table.caption = CAPTION
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    console.print(table)


def _survivors(report: Report, console: Console) -> None:
    survivors = report.teardown.first_use_survivors
    if not survivors:
        return
    total = sum(survivor.bytes for survivor in survivors)
    console.print(
        Text(
            f"\nFirst use left {plural(total, 'byte')} at {plural(len(survivors), 'site')},"
            " which is reported and not held against the backend."
        )
    )
    largest = sorted(survivors, key=lambda survivor: -survivor.bytes)
    for survivor in largest[:MOST_SURVIVORS]:
        amount = f"{plural(survivor.bytes, 'byte')} in {plural(survivor.count, 'block')}"
        where = f"{place(survivor.file, survivor.line)} in {clean(survivor.function)}"
        console.print(Text(f"  {clean(survivor.owner)}: {amount}, {where}"), soft_wrap=True)
    if len(survivors) > MOST_SURVIVORS:
        console.print(Text(f"  and {plural(len(survivors) - MOST_SURVIVORS, 'smaller site')}"))


def _foot(report: Report, console: Console) -> None:
    console.print()
    for note in report.notes:
        console.print(Text(f"Note: {clean(note)}"))
    for name, curve in report.curves.items():
        if len(set(curve)) > 1:
            ends = f"{curve[0]:,} to {curve[-1]:,}"
            console.print(Text(f"{clean(name)}: {sparkline(curve)} {ends}"))
    cost = report.cost
    console.print(Text(f"Took {cost.wall_s:.1f} s, {plural(cost.events, 'event')} traced."))
    # Unwrapped, so that it can be copied whole.
    console.print(Text(f"Workload: {clean(report.workload)}"), soft_wrap=True)
    console.print(Text(f"Replay:   {clean(report.replay)}"), soft_wrap=True)
