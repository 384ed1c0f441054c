"""Checks of a machine as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.doctor import Check, State, worst
from harness.report.text import clean

_STYLES: dict[State, str] = {"good": "green", "poor": "yellow", "bad": "bold red"}
_VERDICTS: dict[State, str] = {
    "good": "Everything can be measured here.",
    "poor": "Backends can be measured here; what is poor is slower, or not seen.",
    "bad": "Nothing can be measured here until what is bad is mended.",
}


def render(checks: Sequence[Check], console: Console) -> None:
    """Print the table and what it comes to."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in ("check", "state", "seen"):
        table.add_column(title)
    for check in checks:
        seen = Text(clean(check.seen))
        if check.remedy:
            seen.append(f"\nremedy: {clean(check.remedy)}", style="bold")
        table.add_row(clean(check.name), Text(check.state, _STYLES[check.state]), seen)
    console.print(table)
    state = worst(checks)
    console.print(Text(f"\n{_VERDICTS[state]}", style=_STYLES[state]))
