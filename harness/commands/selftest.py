"""`steadyframe selftest`: planted faults must be found and named, right backends left alone."""

from __future__ import annotations

import argparse
import os
import sys
import time
from argparse import Namespace
from contextlib import nullcontext

from harness.commands.command import Command
from harness.commands.display import add_display
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import at_least
from harness.report.console import make_console, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add("--only", action="append", default=[], metavar="NAME",
        help="one fault with its twin, or one case that is right; repeatable")  # fmt: skip
    add("--jobs", type=at_least(1), metavar="N", help="runs at a time; default: the processors")
    add_display(parser)


def run(options: Namespace) -> int:
    """Run what was asked for, print the tables; 1 if anything is off."""
    from harness import selftest, selftest_show

    runs = selftest.chosen(selftest.planted(), options.only)
    jobs = options.jobs or len(os.sched_getaffinity(0))
    progress = (
        nullcontext(lambda _: None)
        if options.quiet
        else selftest_show.counted(len(runs), make_console(sys.stderr, no_color=options.no_color))
    )
    started = time.monotonic()
    with progress as tell:
        seen = selftest.run_all(runs, jobs, tell)
    seconds = time.monotonic() - started
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        if options.quiet:
            console.print(selftest_show.summary(seen, seconds), soft_wrap=True)
        else:
            selftest_show.render(seen, seconds, console)
    say(captured.get())
    return EXIT_CODES["pass" if all(each.right for each in seen) else "fail"]


COMMAND = Command(
    "find planted faults, and accuse no backend that is right",
    run,
    add_arguments,
    description="Runs every planted fault as it is and repaired, and cases that only look like\n"
    "one. Exits with 1 if a fault is missed or named wrongly, or if one that is right is accused.",
    examples=("selftest", "selftest --only lost-raw --only lru-evicts"),
)
