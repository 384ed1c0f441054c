"""A watched process on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report import watch_words as words
from harness.report.text import clean, sparkline
from harness.watch.heaptrack import Site
from harness.watch.result import Watched
from harness.watch.sample import Sample
from harness.words import plural

_STYLES = {"pass": "bold green", "fail": "bold red", "no-verdict": "bold yellow"}
_WIDTH = 60
"""columns of the line of bars"""


def render(report: Watched, console: Console, *, brief: bool = False) -> None:
    """Print the report; `brief` is the verdict alone."""
    head = Text.assemble(
        (words.word(report), _STYLES[report.verdict]), "  ", clean(words.headline(report))
    )
    console.print(head, soft_wrap=True)
    if brief:
        return
    if report.samples:
        console.print(Text(f"\n  memory  {bars(report.samples)}"))
    for line in words.growth(report):
        console.print(Text(f"  {line}"), soft_wrap=True)
    rows = list(words.table(report))
    if rows:
        console.print()
        console.print(_table(rows))
    for site in report.sites:
        _render_site(site, console)
    console.print()
    for note in report.notes:
        console.print(Text(f"Note: {clean(note)}"), soft_wrap=True)
    console.print(Text(words.ending(report)), soft_wrap=True)
    console.print(Text(words.method(report)), soft_wrap=True)


def bars(samples: Sequence[Sample]) -> str:
    """The memory as a line of bars: of samples too many to be told apart, each group's most."""
    values = [sample.memory for sample in samples]
    stride = -(-len(values) // _WIDTH)
    return sparkline([max(values[at : at + stride]) for at in range(0, len(values), stride)])


def _table(rows: Sequence[tuple[str, ...]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for number, title in enumerate(words.COLUMNS):
        table.add_column(title, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    return table


def _render_site(site: Site, console: Console) -> None:
    amount = f"\n{words.size(site.bytes)} not freed"
    at = f" of {plural(site.calls, 'allocation')} in {clean(site.function)} ({clean(site.place)})"
    console.print(Text.assemble((amount, "bold"), at), soft_wrap=True)
    for caller in site.callers:
        console.print(Text(f"    {clean(caller)}"), soft_wrap=True)
