"""What `inject` found, for people: the verdict, each point that broke something, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from harness.inject.judge import KINDS
from harness.inject.report import Broken, InjectReport
from harness.owners import users_part
from harness.report.findings import MOST_STACK, place
from harness.report.progress import LONG_S
from harness.report.terminal import render_failure
from harness.report.text import clean, plural
from harness.report.verdict import WORDS
from harness.result import StackFrame

_STYLES = {"pass": "bold green", "fail": "bold red", "no-verdict": "bold yellow"}
_EVERY_S = 10.0
_NOTHING = "no operation was seen that can fail"


def render(report: InjectReport, console: Console, *, brief: bool = False) -> None:
    """Print the report; `brief` is the verdict alone."""
    console.print(
        Text.assemble((WORDS[report.verdict], _STYLES[report.verdict]), "  ", _sentence(report)),
        soft_wrap=True,
    )
    if brief:
        return
    if report.failure is not None:
        render_failure(report.failure, console)
    known: set[tuple[StackFrame, ...]] = set()
    for broken in report.broken:
        _render_broken(broken, console, known=broken.stack in known)
        known.add(broken.stack)
    console.print()
    for note in _notes(report):
        console.print(Text(f"Note: {clean(note)}"))
    if report.operations:
        console.print(Text(_counts(report)), soft_wrap=True)
    console.print(Text(f"Replay:   {clean(report.replay)}"), soft_wrap=True)


def _sentence(report: InjectReport) -> str:
    target = clean(report.target)
    if report.verdict == "no-verdict":
        why = "even the run without a failure fails" if report.failure else _NOTHING
        return f"{target} was not put to the test: {why}."
    if report.verdict == "pass":
        return f"{target} survives a failure of each of {plural(report.points, 'point')}."
    points = plural(len({broken.index for broken in report.broken}), "point")
    more = ", and the rest was left out" if report.stopped else ""
    return f"{target} does not survive a failure: {points} broke something{more}."


def _counts(report: InjectReport) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in report.kinds.items())
    return (
        f"{plural(report.operations, 'operation')} that can fail ({kinds}) at "
        f"{plural(report.stacks, 'stack')}; {plural(report.points, 'point')} chosen of them, "
        f"{plural(report.runs, 'run')} with a failure; {report.wall_s:.0f} s."
    )


def _notes(report: InjectReport) -> Iterator[str]:
    yield from report.notes
    if report.unreached:
        yield (
            f"{plural(report.unreached, 'run')} did not come to the operation that was to fail: "
            "what the backend does differs from run to run"
        )
    if report.stopped:
        yield "--limit N goes on until more points have broken something"


def _render_broken(broken: Broken, console: Console, *, known: bool) -> None:
    how = "it and all after it fail" if broken.lasting else "it fails once"
    first = ", the first time in a process" if broken.first_use else ""
    console.print()
    console.print(
        Text.assemble(
            (f"{broken.index:,} of {broken.total:,}", "bold red"),
            (f"  {clean(broken.operation)}", "bold"),
            f" on {clean(broken.thread)}, in {broken.phase}"
            + (f", frame {broken.frame}" if broken.frame >= 0 else "")
            + f"{first}; {how}:",
        ),
        soft_wrap=True,
    )
    for each in broken.breaks:
        text = f"  {each.kind}: {KINDS[each.kind]}: {clean(each.text)}"
        console.print(Text(text), soft_wrap=True)
        _stack("  where it was then, innermost first:", each.stack, console)
    if known:
        console.print(Text("  stack of the operation: shown above"))
    else:
        _stack("  stack of the operation, innermost first:", broken.stack, console)


def _stack(title: str, stack: tuple[StackFrame, ...], console: Console) -> None:
    users = users_part(stack)
    if not users:
        return
    console.print(Text(title))
    for function, file, line in users[:MOST_STACK]:
        console.print(Text(f"    {clean(function)}  {place(file, line)}"), soft_wrap=True)
    if len(users) > MOST_STACK:
        console.print(Text(f"    and {plural(len(users) - MOST_STACK, 'outer frame')}"))


@contextmanager
def counted(label: str, console: Console) -> Iterator[Callable[[int, int], None]]:
    """Show how many runs are done: a live bar on a terminal, else a line now and then."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(label, console)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(clean(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(label: str, console: Console) -> Callable[[int, int], None]:
    started = last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - started > LONG_S and now - last > _EVERY_S:
            last = now
            console.print(Text(f"{clean(label)}: {done} of {total}, {now - started:.0f} s"))

    return tell
