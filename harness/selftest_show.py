"""How a self-test is shown: a table of faults, one of what must stay green, and a summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.report.progress import LONG_S
from harness.report.text import clean
from harness.selftest import Seen
from harness.words import plural

_WIDTH = 112
"""of the tables where there is no terminal whose width counts"""
_EVERY = 10
"""a run that is logged to a file says how far it is after so many"""


def caught(seen: Sequence[Seen]) -> tuple[int, int]:
    """Faults that were found and named rightly, and how many were planted."""
    faults = [each for each in seen if each.planted.rule]
    return sum(each.right for each in faults), len(faults)


def false_alarms(seen: Sequence[Seen]) -> tuple[int, int]:
    """Backends that are right and were accused, and how many are right."""
    right = [each for each in seen if not each.planted.rule]
    return sum(not each.right for each in right), len(right)


def summary(seen: Sequence[Seen], seconds: float) -> str:
    """All of it in one line."""
    found, planted = caught(seen)
    alarms, right = false_alarms(seen)
    twins = sum(each.planted.twin for each in seen)
    return (
        f"caught {found} of {planted} planted; {plural(alarms, 'false alarm')} on {right} that are "
        f"right ({plural(twins, 'repaired twin')}, {right - twins} that only look like a fault); "
        f"{seconds:.0f} s"
    )


def render(seen: Sequence[Seen], seconds: float, console: Console) -> None:
    """Print the tables, what is off, and the summary."""
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    twins = {each.planted.name: each for each in seen if each.planted.twin}
    if faults := [each for each in seen if each.planted.rule]:
        console.print(_faults(faults, twins))
        console.print()
    if greens := [each for each in seen if not each.planted.rule and not each.planted.twin]:
        console.print(_greens(greens))
        console.print()
    for each in seen:
        if not each.right:
            _explain(each, console)
    console.print(Text(summary(seen, seconds)), soft_wrap=True)


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold", justify="right" if heading == "time" else "left")
    return table


def _faults(faults: Sequence[Seen], twins: dict[str, Seen]) -> Table:
    table = _table("fault", "rule", "kind", "found", "line", "repaired", "time")
    for each in faults:
        run, twin = each.planted, twins.get(each.planted.name)
        line = "-" if each.named is None else _word(each.named, "right", "WRONG")
        table.add_row(
            clean(run.name),
            run.rule,
            run.kind,
            _word(each.found, "found", "MISSED"),
            line,
            _word(twin.right, "green", "ALARM") if twin else "-",
            f"{each.seconds:.1f} s",
        )
    return table


def _greens(greens: Sequence[Seen]) -> Table:
    table = _table("looks like a fault, and is right", "", "verdict", "time")
    for each in greens:
        run = each.planted
        verdict = _word(each.right, "green", "ALARM")
        table.add_row(clean(run.name), clean(run.about), verdict, f"{each.seconds:.1f} s")
    return table


def _word(good: bool, word: str, otherwise: str) -> Text:
    return Text(word, "green") if good else Text(otherwise, "bold red")


def _explain(each: Seen, console: Console) -> None:
    run = each.planted
    where = f" at {Path(run.file).name}:{run.line}" if run.line else ""
    if not run.rule:
        due = "nothing"
        name = f"{run.name}, repaired" if run.twin else run.name
    else:
        due, name = f"{run.rule}: {run.kind}{where}", run.name
    console.print(Text(f"{clean(name)}: {due} was to be said, but:"), soft_wrap=True)
    for said in each.said or ("nothing was said",):
        console.print(Text(f"  {clean(said)}"), soft_wrap=True)
    console.print()


@contextmanager
def counted(total: int, console: Console) -> Iterator[Callable[[Seen], None]]:
    """Show how many runs are done: a live bar on a terminal, else a line now and then."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(total, console)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("selftest"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda seen: bar.update(task, advance=1, description=clean(seen.planted.name))


def _lines(total: int, console: Console) -> Callable[[Seen], None]:
    started = time.monotonic()
    done = 0

    def tell(seen: Seen) -> None:  # noqa: ARG001 - a bar shows its name
        nonlocal done
        done += 1
        elapsed = time.monotonic() - started
        if done % _EVERY == 0 and elapsed > LONG_S:
            console.print(Text(f"selftest: {done} of {total}, {elapsed:.0f} s"))

    return tell
