"""`steadyframe report`: the shipped models on a real video, and a report of each."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from harness.commands.command import Command
from harness.commands.display import add_display, watch
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import file
from harness.report.console import make_console, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    parser.add_argument("--video", type=file, metavar="FILE", help="instead of a generated clip")
    parser.add_argument(
        "--output", type=Path, default=Path("reports"), metavar="DIR", help="default: reports"
    )
    add_display(parser)


def run(options: Namespace) -> int:
    """Verify all cases, write their reports, print what failed and the table."""
    from harness import cases
    from harness.report import terminal
    from harness.report.verdict import worst

    done = cases.run(options.video, options.output, partial(watch, options))
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        for _, report in done:
            if report.verdict != "pass" and not options.quiet:
                terminal.render(report, console)
                console.print()
        cases.render(done, options.output, console)
    say(captured.get())
    return EXIT_CODES[worst(report for _, report in done)]


COMMAND = Command(
    "verify the shipped models on a real video, and write a report of each",
    run,
    add_arguments,
    description="The exit code is that of the worst case: a violation is worse than no\n"
    "verdict, and that is worse than a pass.",
)
