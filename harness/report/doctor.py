"""Checks of a machine as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.checks import Check, State, worst
from harness.report.text import clean

_STYLES: dict[State, str] = {"good": "green", "poor": "yellow", "bad": "bold red"}
_VERDICTS: dict[State, str] = {
    "good": "Everything can be measured here.",
    "poor": "Backends can be measured here; what is poor is slower, or not seen.",
    "bad": "Nothing can be measured here until what is bad is mended.",
}


def render(checks: Sequence[Check], console: Console, *, brief: bool = False) -> None:
    """Print the table and what it comes to; only the latter if brief."""
    if not brief:
        console.print(_table(checks))
        console.print()
    state = worst(checks)
    console.print(Text(_VERDICTS[state], style=_STYLES[state]))


def _table(checks: Sequence[Check]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in ("check", "state", "seen"):
        table.add_column(title)
    for check in checks:
        seen = Text(clean(check.seen))
        if check.remedy:
            seen.append(f"\nremedy: {clean(check.remedy)}", style="bold")
        table.add_row(clean(check.name), Text(check.state, _STYLES[check.state]), seen)
    return table
