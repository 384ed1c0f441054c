"""`steadyframe gate`: every case of a project, held against its baseline."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.commands.command import Command
from harness.commands.display import add_display, import_from_here
from harness.commands.kinds import at_least, file
from harness.commands.outputs import add_outputs, check_outputs, write_markdown, write_reports
from harness.errors import UsageError
from harness.report.console import make_console, say

if TYPE_CHECKING:
    from harness.gate.results import GateResult

DEFAULT_BASELINE = Path("reports/baseline.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add("--baseline", type=file, metavar="FILE",
        help=f"default: {DEFAULT_BASELINE} beside pyproject.toml")  # fmt: skip
    add("--only", action="append", default=[], metavar="GLOB",
        help="cases with such a name alone; repeatable")  # fmt: skip
    add("--update", action="store_true", help="record what is measured as the new baseline")
    add("--strict", action="store_true", help="fail for counts that became better, too")
    add("--jobs", type=at_least(1), metavar="N", help="cases at a time; default: one a processor")
    add("--shard", type=shard, default=(1, 1), metavar="K/N",
        help="the K-th of N parts of the cases, such as 2/5")  # fmt: skip
    add("--output", type=file, metavar="DIR",
        help="write each case's JSON report there, and gate.json for `report --merge`")  # fmt: skip
    add_outputs(parser)
    add_display(parser)


def shard(text: str) -> tuple[int, int]:
    """K/N: this part, from 1, of so many."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ArgumentTypeError(f"{text!r} is not K/N with K from 1 to N, such as 2/5")
    return int(match[1]), int(match[2])


def check(options: Namespace) -> None:
    """Refuse what excludes each other."""
    if options.update and options.strict:
        raise UsageError("--update and --strict exclude each other: leave one out")


def run(options: Namespace) -> int:
    """Measure the cases, compare or record them, print and write what was asked for."""
    from harness import config
    from harness.gate import gate
    from harness.report.gate_progress import shown

    project = config.load(Path.cwd())
    root = project.path.parent if project.path else Path.cwd()
    check_outputs(options)
    request = gate.Request(
        project=project,
        root=root,
        baseline=(options.baseline or root / DEFAULT_BASELINE).absolute(),
        only=tuple(options.only),
        shard=options.shard,
        update=options.update,
        strict=options.strict,
        jobs=options.jobs or len(os.sched_getaffinity(0)),
        output=options.output and options.output.absolute(),
    )
    console = make_console(sys.stderr, no_color=options.no_color)
    # Files that cases name lie below the project, wherever the command is called.
    with contextlib.chdir(root), shown(console, quiet=options.quiet) as observe:
        import_from_here()
        result, reports = gate.run(request, observe)
    _show(options, result)
    write_reports(options, reports)
    return result.exit_code


def show_merged(options: Namespace) -> int:
    """What `steadyframe report --merge DIR` does: show all shards as one, with its exit code."""
    from harness.gate.merge import merge

    check_outputs(options)
    result = merge(options.merge)
    _show(options, result)
    return result.exit_code


def _show(options: Namespace, result: GateResult) -> None:
    """Print a result, and write it as Markdown where asked for."""
    from harness.report import gate as renderer
    from harness.report.gate_markdown import to_markdown

    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        renderer.render(result, console, quiet=options.quiet)
    say(captured.get())
    write_markdown(options, to_markdown(result))


COMMAND = Command(
    "hold every case of the project against its baseline",
    run,
    add_arguments,
    check,
    description="Cases are declared in pyproject.toml, [[tool.steadyframe.cases]].\n"
    "exit codes: 0 no count is worse; 1 a count is worse, or a case or the baseline is missing;\n"
    "3 a case has no verdict, or nothing is recorded for this environment.",
    examples=(
        "gate",
        "gate --update",
        "gate --only 'denoise-*' --strict",
        "gate --shard 2/5 --output gate/2",
    ),
)
