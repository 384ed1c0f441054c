"""`steadyframe watch`: does the memory of a process drift that can't be instrumented?"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands.command import Command
from harness.commands.display import add_display
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import at_least, file, frames_per_second, seconds
from harness.commands.outputs import check_report_files
from harness.errors import UsageError
from harness.report.console import make_console, say

if TYPE_CHECKING:
    from harness.watch.result import Watched
    from harness.watch.session import Observe


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add("command", nargs="*", metavar="COMMAND",
        help="what to start and watch, after --; it is ended when the watch ends")  # fmt: skip
    add("--pid", type=at_least(1), metavar="N", help="watch this process instead; it is left alone")
    add("--duration", type=seconds, metavar="SECONDS",
        help="watch for so long; default: until the process ends, or Ctrl-C")  # fmt: skip
    add("--interval", type=seconds, metavar="SECONDS",
        help="from sample to sample; default: 0.05, and longer the longer it takes")  # fmt: skip
    add("--fps", type=frames_per_second, metavar="N",
        help="frames per second: tell the growth per frame")  # fmt: skip
    add("--sites", action="store_true",
        help="start COMMAND under heaptrack, and list what it did not free")  # fmt: skip
    add("--json", type=file, metavar="FILE", help="write the report as JSON; - is stdout")
    add("--html", type=file, metavar="FILE", help="write the report as one page, offline")
    add_display(parser)


def check(options: Namespace) -> None:
    """Refuse what excludes each other."""
    if bool(options.command) == (options.pid is not None):
        raise UsageError("give either a command after --, or --pid N")
    if options.sites and options.pid is not None:
        raise UsageError("--sites needs a command that it can start: leave out it or --pid")


def run(options: Namespace) -> int:
    """Watch, print the report, write what was asked for."""
    from harness.report import files, watch_progress
    from harness.watch.result import to_json

    to_stdout = check_report_files(options)
    console = make_console(sys.stderr, no_color=options.no_color)
    with watch_progress.shown(console, options.duration, quiet=options.quiet) as observe:
        report = _watched(options, observe)
    if to_stdout:
        say(to_json(report))
    else:
        _show(options, report)
        if options.json:
            files.write(options.json, to_json(report))
    if options.html:
        from harness.report.watch_html import watch_page

        files.write(options.html, watch_page(report))
    return EXIT_CODES[report.verdict]


def _watched(options: Namespace, observe: Observe) -> Watched:
    from harness.watch import heaptrack, session
    from harness.watch.judge import judged

    how = (options.interval, options.duration, observe)
    told: dict[str, Any] = {"fps": options.fps}
    if options.pid is not None:
        return judged(session.attach(options.pid, *how), watched=f"process {options.pid}", **told)
    told["watched"] = shlex.join(options.command)
    if not options.sites:
        return judged(session.run(options.command, *how), **told)
    heaptrack.check()
    with tempfile.TemporaryDirectory(prefix="steadyframe-watch-") as folder:
        under = heaptrack.under(options.command, Path(folder))
        seen = session.run(under, *how, beside=heaptrack.beside)
        try:
            told |= {"sites": heaptrack.sites(Path(folder)), "notes": [heaptrack.NOTE]}
        except UsageError as error:
            told["notes"] = [str(error)]  # what was seen of its memory is none the worse
        return judged(seen, **told)


def _show(options: Namespace, report: Watched) -> None:
    from harness.report import watch_terminal

    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        watch_terminal.render(report, console, brief=options.quiet)
    say(captured.get())


COMMAND = Command(
    "watch a running process, or a command, for memory that goes on growing",
    run,
    add_arguments,
    check,
    description="Samples the memory of a process and all below it, drops the start-up, and says\n"
    "whether it goes on rising. Of a process whose memory does not, a drift is said once in\n"
    "200 times at most. Exits with 0 if there is none, 1 if there is one, 3 if it can't be said,\n"
    "also when Ctrl-C ends the watch.",
    examples=(
        "watch --duration 60 -- ffmpeg -re -i clip.mp4 -f null -",
        "watch --pid 4711 --fps 25 --html watch.html",
        "watch --sites -- ./player clip.mp4",
    ),
)
