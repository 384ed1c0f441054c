"""What `inject` found, for people: the verdict, each point that broke something, and the counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from harness.inject.judge import KINDS
from harness.inject.points import Break
from harness.inject.report import Broken, InjectReport
from harness.owners import users_part
from harness.report.findings import MOST_STACK, place
from harness.report.progress import LONG_S
from harness.report.terminal import render_failure
from harness.report.text import clean, ranges
from harness.report.verdict import WORDS
from harness.result import StackFrame
from harness.words import plural

_STYLES = {"pass": "bold green", "fail": "bold red", "no-verdict": "bold yellow"}
_EVERY_S = 10.0
MOST_OUTCOMES = 4
"""shown of one failure; the JSON report has all"""
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
    for point in _points(report.broken):
        _render_point(point, console, known=point[0].stack in known)
        known.add(point[0].stack)
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


def _points(broken: Sequence[Broken]) -> list[list[Broken]]:
    """What broke at each point: it failed once, or with all after it."""
    points: dict[tuple[int, bool], list[Broken]] = {}
    for each in broken:
        points.setdefault((each.index, each.first_use), []).append(each)
    return list(points.values())


def _render_point(point: Sequence[Broken], console: Console, *, known: bool) -> None:
    operation = point[0]
    console.print()
    console.print(
        Text.assemble(
            (f"{operation.index:,} of {operation.total:,}", "bold red"),
            (f"  {clean(operation.operation)}", "bold"),
            f" on {clean(operation.thread)}, in {operation.phase}"
            + (f", frame {operation.frame}" if operation.frame >= 0 else "")
            + (", the first time in a process:" if operation.first_use else ":"),
        ),
        soft_wrap=True,
    )
    for broken in point:
        console.print(
            Text(f"  {'it and all after it fail' if broken.lasting else 'it fails once'}:")
        )
        _render_outcomes(broken.breaks, console)
    if known:
        console.print(Text("  stack of the operation: shown above"))
    else:
        _stack("  stack of the operation, innermost first:", operation.stack, console)


def _render_outcomes(breaks: Sequence[Break], console: Console) -> None:
    """Print what became of the frames, those that fared alike in one line."""
    alike: dict[tuple[str, str, tuple[StackFrame, ...]], list[Break]] = {}
    for each in breaks:
        said = each.text.removeprefix(f"frame {each.frame}")
        alike.setdefault((each.kind, said, each.stack), []).append(each)
    for (kind, said, stack), same in list(alike.items())[:MOST_OUTCOMES]:
        if said != same[0].text:
            frames = ranges(each.frame for each in same)
            said = f"{'frame' if len(same) == 1 else 'frames'} {frames}{said}"
        elif len(same) > 1:
            said += f" ({len(same):,} times)"
        console.print(Text(f"    {kind}: {KINDS[kind]}: {clean(said)}"), soft_wrap=True)
        _stack("    where it was then, innermost first:", stack, console)
    if len(alike) > MOST_OUTCOMES:
        more = plural(len(alike) - MOST_OUTCOMES, "other outcome")
        console.print(Text(f"    and {more}: --json FILE keeps all of them"))


def _stack(title: str, stack: tuple[StackFrame, ...], console: Console) -> None:
    users = users_part(stack)
    if not users:
        return
    indent = " " * (len(title) - len(title.lstrip()))
    console.print(Text(title))
    for function, file, line in users[:MOST_STACK]:
        console.print(Text(f"{indent}  {clean(function)}  {place(file, line)}"), soft_wrap=True)
    if len(users) > MOST_STACK:
        console.print(Text(f"{indent}  and {plural(len(users) - MOST_STACK, 'outer frame')}"))


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
