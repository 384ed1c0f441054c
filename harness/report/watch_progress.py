"""What is seen of a watch while it goes on, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from harness.report.progress import LONG_S
from harness.report.watch_terminal import bars
from harness.report.watch_words import size
from harness.watch.sample import Sample
from harness.words import plural

_LAST = 240
"""samples whose bars are shown"""


@contextmanager
def shown(
    console: Console, duration: float | None, *, quiet: bool
) -> Iterator[Callable[[Sample], None]]:
    """Show each sample: a live line on a terminal, else a line now and then."""
    if quiet:
        yield lambda _: None
        return
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(console, duration)
        return
    from rich.live import Live

    seen: list[Sample] = []
    # What the command prints goes to the same terminal: it is left alone.
    with Live(
        console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as live:

        def observe(sample: Sample) -> None:
            seen.append(sample)
            del seen[:-_LAST]
            line = Text(f"{describe(sample, duration)}  {bars(seen)}", no_wrap=True)
            live.update(line, refresh=True)

        yield observe


def describe(sample: Sample, duration: float | None) -> str:
    """One moment of a watch in words."""
    of = f" of {duration:g}" if duration is not None else ""
    processes = "es" if sample.processes != 1 else ""
    return (
        f"{sample.at:.0f}{of} s, {size(sample.memory)}, {plural(sample.threads, 'thread')}, "
        f"{sample.processes} process{processes}"
    )


def _lines(console: Console, duration: float | None) -> Callable[[Sample], None]:
    said = 0.0

    def observe(sample: Sample) -> None:
        nonlocal said
        if sample.at - said >= LONG_S:
            said = sample.at
            console.print(Text(f"watching: {describe(sample, duration)}"), soft_wrap=True)

    return observe
