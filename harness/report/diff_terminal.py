"""Two runs compared, for a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.diff import Diff, headline
from harness.report.text import clean
from harness.report.verdict import WORDS

_STYLES = {"worse": "bold red", "better": "bold green", "changed": "yellow"}


def render(found: Diff, console: Console) -> None:
    """Print all that changed. Readable without colour."""
    before, after = WORDS[found.before.verdict], WORDS[found.after.verdict]
    console.print(Text(headline(found), style="bold"))
    console.print(Text(f"Verdict: {before} before, {after} after."))
    for caution in found.cautions:
        console.print(Text(f"Not the same: {clean(caution)}"))
    for title, changes in found.parts:
        if not changes:
            continue
        console.print(Text(f"\nBy {title}", style="bold"))
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for change in changes:
            moved = f"{change.what}: {change.before} -> {change.after}"
            table.add_row(
                Text(change.direction, style=_STYLES[change.direction]),
                Text(f"{clean(change.name)}\n  {clean(moved)}"),
            )
        console.print(table)
