"""How far the gate is: one line for each case that is done, and on a terminal how many are left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from harness.gate.results import CaseResult
from harness.report.gate import STYLES
from harness.report.text import clean
from harness.result import Report


@contextmanager
def shown(console: Console, *, quiet: bool) -> Iterator[Callable[[CaseResult, Report, int], None]]:
    """Gives what is to be called with each result, its report and the number of all cases."""
    if quiet:
        yield lambda *_: None
        return
    started, done = time.monotonic(), 0
    with console.status("starting") as status:

        def observe(result: CaseResult, report: Report, cases: int) -> None:
            nonlocal done
            done += 1
            elapsed = time.monotonic() - started
            line = Text(f"[{done:>{len(str(cases))}}/{cases}] {clean(result.name)}: ")
            line.append(result.status, style=STYLES[result.status])
            line.append(f"  {report.cost.wall_s:.1f} s")
            console.print(line, soft_wrap=True)
            status.update(f"{done} of {cases} cases, {elapsed:.0f} s")

        yield observe
