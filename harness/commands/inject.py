"""`steadyframe inject`: every operation fails once, and what becomes of it."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path

from harness.commands.command import Command
from harness.commands.display import add_display, import_from_here
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import at_least, file, keyword, method, seconds
from harness.errors import UsageError
from harness.inject import DEFAULT_LIMIT, DEFAULT_TIMEOUT, DEFAULT_WORKLOAD
from harness.report.console import make_console, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add(
        "target",
        metavar="TARGET",
        help="package.module:factory, file.py:factory, a TorchScript file, or a name from `list`",
    )
    add("--workload", metavar="TEXT_OR_NAME", default=DEFAULT_WORKLOAD,
        help="short, with changes of size; default: %(default)s")  # fmt: skip
    add("--arg", type=keyword, action="append", default=[], metavar="KEY=VALUE",
        help="to the factory; an int, float, true, false or text; repeatable")  # fmt: skip
    add("--map", type=method, action="append", default=[], metavar="METHOD=NAME",
        help="its own name of execute, get_result, flush or close; repeatable")  # fmt: skip
    add("--stateful", action="store_true", help="results depend on earlier frames, by design")
    add("--all", action="store_true",
        help="every operation, not just the first at its stack in each segment")  # fmt: skip
    add("--timeout", type=seconds, default=DEFAULT_TIMEOUT, metavar="SECONDS",
        help="without progress, after which a run hangs; default: %(default)g")  # fmt: skip
    add("--limit", type=at_least(1), default=DEFAULT_LIMIT, metavar="N",
        help="stop when so many points broke something; default: %(default)s")  # fmt: skip
    add("--jobs", type=at_least(1), metavar="N", help="runs at a time; default: the processors")
    add("--json", type=file, metavar="FILE", help="write the report as JSON; - is stdout")
    add_display(parser)


def check(options: Namespace) -> None:
    """Refuse what is given twice."""
    keys = [key for key, _ in options.arg]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise UsageError(f"--arg {min(twice)} is given more than once: leave one out")


def run(options: Namespace) -> int:
    """Have each operation fail, print what broke, write what was asked for."""
    from harness.inject.report import to_json
    from harness.inject.runs import inject
    from harness.report import files, inject_terminal

    import_from_here()
    to_stdout = options.json == Path("-")
    if options.json and not to_stdout:
        files.check_writable(options.json)
    errors = make_console(sys.stderr, no_color=options.no_color)
    progress = (
        nullcontext(lambda done, total: None)  # noqa: ARG005 - says nothing
        if options.quiet
        else inject_terminal.counted(options.target, errors)
    )
    with progress as tell:
        report = inject(
            options.target,
            options.workload,
            options=dict(options.arg),
            methods=dict(options.map),
            stateful=options.stateful,
            everything=options.all,
            timeout=options.timeout,
            jobs=options.jobs or len(os.sched_getaffinity(0)),
            limit=options.limit,
            tell=tell,
        )
    if to_stdout:
        say(to_json(report))
    else:
        console = make_console(sys.stdout, no_color=options.no_color)
        with console.capture() as captured:
            inject_terminal.render(report, console, brief=options.quiet)
        say(captured.get())
        if options.json:
            files.write(options.json, to_json(report))
    return EXIT_CODES[report.verdict]


COMMAND = Command(
    "have each operation fail in turn, and see what becomes of the frames",
    run,
    add_arguments,
    check,
    description="Counts the operations of a run that can fail, and makes the run again and again,\n"
    "in each of which another one fails: once, and then with all that follow it. Exits with 0 if\n"
    "all are survived, 1 if any breaks something, 3 if even the run without a failure fails, or\n"
    "if there is no operation that can fail.",
    examples=(
        "inject mine.py:open_mine",
        "inject espcn --arg mode=async --arg nireq=4 --jobs 2",
        "inject mine.py:open_mine --workload 64x64@100*8 --all --json inject.json",
    ),
)
