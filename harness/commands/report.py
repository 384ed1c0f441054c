"""`steadyframe report`: the shipped models on a real video, and a report of each."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from harness.commands import gate
from harness.commands.command import Command
from harness.commands.display import add_display, watch
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import file
from harness.commands.outputs import add_outputs, check_outputs, write_markdown, write_outputs
from harness.errors import UsageError
from harness.report.console import make_console, say

DEFAULT_OUTPUT = Path("reports")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add("--video", type=file, metavar="FILE", help="instead of a generated clip")
    add("--output", type=Path, metavar="DIR", help=f"default: {DEFAULT_OUTPUT}")
    add("--diff", type=file, nargs=2, metavar=("OLD.json", "NEW.json"),
        help="measure nothing, compare two reports; 1 if anything is worse")  # fmt: skip
    add("--merge", type=file, metavar="DIR",
        help="measure nothing, put the shards of `gate --output` below DIR together")  # fmt: skip
    add("--html", type=file, metavar="FILE", help="write the comparison as one page, offline")
    add_outputs(parser)
    add_display(parser)


def check(options: Namespace) -> None:
    """Refuse what does not go with a comparison or a merge, or without one."""
    beside_merge = (options.diff, options.video, options.output, options.junit, options.sarif)
    if options.merge is not None and any(beside_merge):
        raise UsageError(
            "--merge measures nothing: leave out --diff, --video, --output, --junit and --sarif"
        )
    if options.diff is None:
        if options.html is not None:
            raise UsageError("--html is for --diff: the pages of a report are in its --output")
    elif any((options.video, options.output, options.junit, options.sarif)):
        raise UsageError(
            "--diff measures nothing: leave out --video, --output, --junit and --sarif"
        )


def run(options: Namespace) -> int:
    """Verify all cases, write their reports, print what failed and the table; or compare two."""
    if options.diff is not None:
        return _compare(options)
    if options.merge is not None:
        return gate.show_merged(options)
    from harness import cases
    from harness.report import terminal
    from harness.report.verdict import worst

    output = options.output or DEFAULT_OUTPUT
    check_outputs(options)
    done = cases.run(options.video, output, partial(watch, options))
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        for _, report in done:
            if report.verdict != "pass" and not options.quiet:
                terminal.render(report, console)
                console.print()
        cases.render(done, output, console)
    say(captured.get())
    write_outputs(options, [(case.name, report) for case, report in done])
    return EXIT_CODES[worst(report for _, report in done)]


def _compare(options: Namespace) -> int:
    from harness.report import diff_terminal, files
    from harness.report.diff import diff, headline
    from harness.report.diff_markdown import to_markdown
    from harness.report.json import load

    if options.html is not None:
        files.check_writable(options.html)
    check_outputs(options)
    found = diff(*map(load, options.diff))
    if options.quiet:
        say(f"{headline(found)}\n")
    else:
        console = make_console(sys.stdout, no_color=options.no_color)
        with console.capture() as captured:
            diff_terminal.render(found, console)
        say(captured.get())
    write_markdown(options, to_markdown(found))
    if options.html is not None:
        from harness.report.diff_html import diff_page

        files.write(options.html, diff_page(found))
    return EXIT_CODES["fail" if found.count("worse") else "pass"]


COMMAND = Command(
    "verify the shipped models on a real video, and write a report of each",
    run,
    add_arguments,
    check,
    description="Or, with --diff, compare two reports. The exit code is that of the worst case:\n"
    "a violation is worse than no verdict, and that is worse than a pass.",
    examples=(
        "report",
        "report --video clip.mp4 --output reports",
        "report --diff before.json after.json --html diff.html",
        "report --merge gate",
    ),
)
