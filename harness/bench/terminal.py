"""A bench as tables on a terminal, the targets last."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from harness.bench import numbers
from harness.bench.section import Bench, Section
from harness.report.text import clean

WIDTH = 120
"""columns that the widest table takes, for a file or a pipe, which has no width of its own"""


def render(bench: Bench, console: Console) -> None:
    """Print all sections, what is missing, and the targets."""
    for section in bench.sections:
        console.print(Text(f"\n{clean(section.title)}", style="bold"))
        console.print(Text(clean(section.about)))
        console.print(_section(section))
        for note in section.notes:
            console.print(Text(clean(note)))
    if bench.targets:
        console.print(Text("\nTargets", style="bold"))
        console.print(_table(numbers.TARGET_COLUMNS, [*map(numbers.target_row, bench.targets)], ()))
        console.print(Text(numbers.sentence(bench)))


def _section(section: Section) -> Table:
    heads = [numbers.head(column) for column in section.columns]
    rows = [[numbers.cell(cell) for cell in row] for row in section.rows]
    right = [n for n in range(len(heads)) if numbers.is_number(section.rows, n)]
    return _table(heads, rows, right)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    for number, head in enumerate(heads):
        justify: JustifyMethod = "right" if number in right else "left"
        shown.add_column(Text(clean(head)), justify=justify, overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    return shown
