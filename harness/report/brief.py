"""The report of a test that failed: the verdict, what was found, and how to do it again."""

from __future__ import annotations

import io

from rich.text import Text

from harness.report.console import make_console
from harness.report.findings import render_findings
from harness.report.terminal import render_failure, verdict_line
from harness.report.text import clean
from harness.result import Report


def brief(report: Report) -> str:
    """Plain text of several lines, without the tables of numbers."""
    stream = io.StringIO()
    console = make_console(stream, no_color=True)
    console.print(verdict_line(report))
    if report.failure is not None:
        render_failure(report.failure, console)
    render_findings(report, console)
    console.print()
    for note in report.notes:
        console.print(Text(f"Note: {clean(note)}"))
    if report.workload:
        console.print(Text(f"Workload: {clean(report.workload)}"), soft_wrap=True)
    # Unwrapped, so that it can be copied whole.
    console.print(Text(f"Replay:   {clean(report.replay)}"), soft_wrap=True)
    return stream.getvalue().rstrip()
