"""What is seen of a run while it runs. On stderr, so that results can be piped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TypeAlias

from harness.report.text import clean

if TYPE_CHECKING:
    from rich.console import Console

    from harness.result import Progress

Observer: TypeAlias = "Callable[[Progress], None]"

LONG_S = 10.0
"""a run that is logged to a file says nothing before this, and then a line for each cycle"""


@contextmanager
def shown(label: str, console: Console) -> Iterator[Observer]:
    """Show the progress of one run: a live bar on a terminal, else a line now and then."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(label, console.file)
        return
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[frames]}", markup=False),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(clean(label), total=None, frames="starting")

        def observe(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.cycles * progress.frames or None,
                completed=max(progress.cycle - 1, 0) * progress.frames + progress.frame,
                frames=describe(progress),
            )

        yield observe


def describe(progress: Progress) -> str:
    """One moment of a run in words."""
    words = [progress.phase]
    if progress.cycle:
        words.insert(0, f"cycle {progress.cycle} of {progress.cycles}")
    if progress.frames:
        words.append(f"frame {progress.frame} of {progress.frames}")
    if progress.more:
        words.append(progress.more)
    return ", ".join(words)


def _lines(label: str, stream: IO[str]) -> Observer:
    started = time.monotonic()
    seen = 0

    def observe(progress: Progress) -> None:
        nonlocal seen
        elapsed = time.monotonic() - started
        if progress.cycle != seen and elapsed > LONG_S:
            seen = progress.cycle
            print(f"{clean(label)}: {describe(progress)}, {elapsed:.0f} s", file=stream, flush=True)

    return observe
