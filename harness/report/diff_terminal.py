"""Two runs compared, for a terminal."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.diff import Diff, headline
from harness.report.text import clean
from harness.report.verdict import WORDS

_LONGEST_RULE = 18
"""characters: the name of a rule is not broken"""
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
        table = Table(
            "", title, "what", "before", "after", title=f"\nBy {title}", title_justify="left",
            title_style="bold", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
            collapse_padding=True,
        )  # fmt: skip
        table.columns[0].no_wrap = True
        table.columns[2].min_width = _LONGEST_RULE
        for column in table.columns[3:]:
            column.justify = "right"
        for change in changes:
            cells = (change.name, change.what, change.before, change.after)
            table.add_row(
                Text(change.direction, style=_STYLES[change.direction]),
                *(Text(clean(cell), overflow="fold") for cell in cells),
            )
        console.print(table)
