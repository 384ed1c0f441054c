"""The matrix on a terminal: a row for each fault, one for each rule, and the sums."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from harness.bench.ending import exit_code
from harness.bench.matrix import TOOLS, Cell, Matrix, installed, measure, pairs_of
from harness.bench.matrix.outcome import Outcome
from harness.report.console import make_console
from harness.report.text import clean

_WIDTH = 100
_STYLES: dict[Outcome, str] = {"found": "green", "cannot tell": "yellow", "no run": "yellow"}
AT_LINE = "at its line"
"""the word for what is found there"""


def main(names: Sequence[str]) -> int:
    """Measure and print; 0 if this detector finds every fault, 1 if not, 2 for bad usage."""
    return exit_code(lambda: _finds_all(names))


def _finds_all(names: Sequence[str]) -> bool:
    with _counted(len(pairs_of(names)) * len(installed())) as tell:
        matrix = measure(names, tell=tell)
    console = make_console(sys.stdout, no_color=False)
    if not console.is_terminal:
        console.width = _WIDTH
    render(matrix, console)
    ours = [cell for cell in matrix.cells if cell.tool == TOOLS[0].name]
    return all(cell.outcome == "found" for cell in ours)


def render(matrix: Matrix, console: Console) -> None:
    """Print the tables, and why there is no answer where there is none."""
    console.print(_faults(matrix))
    console.print()
    console.print(_rules(matrix))
    for cell in matrix.cells:
        if cell.outcome in ("cannot tell", "no run"):
            line = f"{cell.fault}, {cell.tool}: {cell.outcome}, {clean(cell.words)}"
            console.print(Text(line), no_wrap=True, overflow="ellipsis", crop=True)
    for used in matrix.tools:
        if used.missing:
            console.print(Text(f"{used.name} is missing: {used.missing}"))


def _faults(matrix: Matrix) -> Table:
    table = _table("fault", matrix)
    for fault in dict.fromkeys(cell.fault for cell in matrix.cells):
        cells = [cell for cell in matrix.cells if cell.fault == fault]
        table.add_row(clean(fault), *(_word(_of(cells, used.name)[0]) for used in matrix.tools))
    return table


def _rules(matrix: Matrix) -> Table:
    table = _table("faults found, by rule", matrix)
    for rule in sorted({cell.rule for cell in matrix.cells}):
        cells = [cell for cell in matrix.cells if cell.rule == rule]
        table.add_row(rule, *(_share(_of(cells, used.name)) for used in matrix.tools))
    table.add_section()
    columns = [_of(matrix.cells, used.name) for used in matrix.tools]
    table.add_row("found", *map(_share, columns))
    table.add_row(AT_LINE, *(str(sum(cell.at_line for cell in cells)) for cells in columns))
    for outcome in ("missed", "cannot tell", "no run"):
        table.add_row(outcome, *(str(_count(cells, outcome)) for cells in columns))
    table.add_row("seconds", *(f"{sum(c.seconds for c in cells):.0f}" for cells in columns))
    return table


def _table(first: str, matrix: Matrix) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(first)
    for used in matrix.tools:
        table.add_column(used.name)
    return table


def _of(cells: Iterable[Cell], tool: str) -> list[Cell]:
    return [cell for cell in cells if cell.tool == tool]


def _word(cell: Cell) -> Text:
    return Text(AT_LINE if cell.at_line else cell.outcome, _STYLES.get(cell.outcome, "dim"))


def _share(cells: Sequence[Cell]) -> str:
    if all(cell.outcome == "missing" for cell in cells):
        return "missing"
    return f"{_count(cells, 'found')} of {len(cells)}"


def _count(cells: Iterable[Cell], outcome: str) -> int:
    return sum(cell.outcome == outcome for cell in cells)


@contextmanager
def _counted(total: int) -> Iterator[Callable[[Cell], None]]:
    columns = (
        TextColumn("matrix"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    console = make_console(sys.stderr, no_color=False)
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda cell: bar.update(
            task, advance=1, description=f"{cell.tool}, {clean(cell.fault)}: {cell.outcome}"
        )
