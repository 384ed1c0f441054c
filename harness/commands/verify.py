"""`steadyframe verify`: one backend, one workload, one verdict."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.commands.command import Command
from harness.commands.display import add_display, import_from_here, watch
from harness.commands.exits import EXIT_CODES
from harness.commands.kinds import at_least, file, keyword, method, owner, seconds, size
from harness.commands.levels import LEVELS
from harness.commands.outputs import (
    add_outputs,
    check_outputs,
    check_report_files,
    write_outputs,
)
from harness.errors import UsageError
from harness.interrupts import held_back
from harness.report.console import make_console, say

if TYPE_CHECKING:
    from harness.report.progress import Observer
    from harness.result import Progress, Report
    from harness.workload import Workload

DEFAULT_WORKLOAD = "concat-jump"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    add = parser.add_argument
    add(
        "target",
        metavar="TARGET",
        help="package.module:factory, file.py:factory, a TorchScript file, or a name from `list`",
    )
    add("--workload", metavar="TEXT_OR_NAME", help=f"default: {DEFAULT_WORKLOAD}")
    add("--video", type=file, metavar="FILE", help="decode this file instead of a workload")
    add("--level", choices=LEVELS, help="default: zero-owned; see `list`")
    add("--cycles", type=at_least(1), metavar="N", help="open-to-close; default: 3")
    add("--warmup", type=at_least(0), metavar="N", help="frames; default: 8, or 2 x nireq + 2")
    add("--arg", type=keyword, action="append", default=[], metavar="KEY=VALUE",
        help="to the factory; an int, float, true, false or text; repeatable")  # fmt: skip
    add("--map", type=method, action="append", default=[], metavar="METHOD=NAME",
        help="its own name of execute, get_result, flush or close; repeatable")  # fmt: skip
    add("--json", type=file, metavar="FILE", help="write the report as JSON; - is stdout")
    add("--html", type=file, metavar="FILE", help="write the report as one page, offline")
    add_outputs(parser)
    add("--flamegraph", type=file, metavar="FILE",
        help="write memray's own page of all that is alive at the end, by stack")  # fmt: skip
    add("--timeout", type=seconds, metavar="SECONDS", help="give up after so long without progress")
    add("--seed", type=at_least(0), default=0, metavar="N", help="of the frames; default: 0")
    add("--owner", type=owner, action="append", default=[], metavar="NAME=GLOB",
        help="whose code a file or function is; before the defaults; repeatable")  # fmt: skip
    add("--stateful", action="store_true", help="results depend on earlier frames, by design")
    add("--quick", action="store_true", help="the traced run alone; what needs more is skipped")
    add("--shrink", action="store_true",
        help="if it fails, look for the least workload that shows the first fault")  # fmt: skip
    add("--soak", type=at_least(1), metavar="FRAMES",
        help="so many frames in one cycle, screened for growth at native speed")  # fmt: skip
    add("--pace", choices=("virtual", "realtime"),
        help="of a soak run: as fast as it goes (virtual), or as frames arrive")  # fmt: skip
    add("--memory-limit", type=size, metavar="BYTES",
        help="that a run may take beyond what it starts with; 512M and 2G will do")  # fmt: skip
    add_display(parser)


def check(options: Namespace) -> None:
    """Refuse what excludes each other."""
    if options.workload is not None and options.video:
        raise UsageError("--workload and --video exclude each other: leave one out")
    beside_soak = (
        options.level,
        options.cycles,
        options.stateful,
        options.quick,
        options.shrink,
    )
    if options.soak is not None and any(beside_soak):
        raise UsageError(
            "--soak is one long cycle that is screened for growth: "
            "leave out --level, --cycles, --stateful, --quick and --shrink"
        )
    if options.soak is not None and options.flamegraph is not None:
        raise UsageError("--flamegraph is of a traced run, --soak traces none: leave one out")
    if options.pace and options.soak is None:
        raise UsageError("--pace is that of a soak run: add --soak FRAMES, or leave it out")
    keys = [key for key, _ in options.arg]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise UsageError(f"--arg {min(twice)} is given more than once: leave one out")


def run(options: Namespace) -> int:
    """Verify, print the report, write what was asked for."""
    with held_back():
        from harness import zygotes
        from harness.report import files
        from harness.report.json import to_json
        from harness.workload import Workload

    import_from_here()
    text = DEFAULT_WORKLOAD if options.workload is None else options.workload
    workload = None if options.video else Workload.named_or_parsed(text)
    to_stdout = check_report_files(options)
    check_outputs(options)
    if options.flamegraph is not None:
        files.check_writable(options.flamegraph)
    zygotes.prestart(1 if options.quick or options.soak else 2)
    with held_back():  # meanwhile these import torch
        import_module("harness.verify_soak" if options.soak else "harness.verify")
        import_module("harness.report.terminal")
    with watch(options, options.target) as observer:
        report = _made(options, workload, observer)
    if to_stdout:
        say(to_json(report))
    else:
        _show(options, report)
        if options.json:
            files.write(options.json, to_json(report))
    if options.html:
        from harness.report.html import case_page

        files.write(options.html, case_page(options.target, report, embed=True))
    write_outputs(options, [(options.target, report)])
    return EXIT_CODES[report.verdict]


def _show(options: Namespace, report: Report) -> None:
    from harness.report import terminal

    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        if options.quiet:
            console.print(terminal.verdict_line(report), soft_wrap=True)
        else:
            terminal.render(report, console)
    say(captured.get())


def _made(options: Namespace, workload: Workload | None, observer: Observer | None) -> Report:
    """The report that was asked for. The project's own settings hold where nothing is said."""
    from harness import config

    project = config.load(Path.cwd())
    asked: dict[str, Any] = {
        "video": options.video,
        "warmup": _first(options.warmup, project.warmup),
        "seed": options.seed,
        "options": dict(options.arg),
        "owners": [*options.owner, *project.owners],
        "memory_limit": options.memory_limit,
        "methods": dict(options.map),
        "progress": observer,
    }
    if (timeout := _first(options.timeout, project.timeout)) is not None:
        asked["timeout"] = timeout
    if options.soak is not None:
        from harness.verify_soak import verify_soak

        asked["real_time"] = options.pace == "realtime"
        return verify_soak(options.target, options.soak, workload, **asked)
    from harness.verify import verify

    if (cycles := _first(options.cycles, project.cycles)) is not None:
        asked["cycles"] = cycles
    asked["level"] = options.level or project.level or "zero-owned"
    asked["stateful"] = options.stateful
    report = verify(
        options.target, workload, quick=options.quick, flamegraph=options.flamegraph, **asked
    )
    if options.shrink and report.verdict != "pass" and report.workload:
        from harness.shrink import shrink

        def again(workload: Workload, *, quick: bool) -> Report:
            made_up = {**asked, "video": None, "progress": None}
            return verify(options.target, workload, quick=quick, **made_up)

        report.notes += (shrink(report, again, observer or _tell_nobody),)
    return report


def _tell_nobody(progress: Progress) -> None:
    pass


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


COMMAND = Command(
    "verify one backend",
    run,
    add_arguments,
    check,
    description="Runs one backend in fresh processes, and holds it to its contract. Exits with 0\n"
    "if that holds, 1 if it is violated, 3 if there is no verdict: it crashed, hung, was killed\n"
    "or could not be measured.",
    examples=(
        "verify espcn",
        "verify mine.py:open_mine --workload 128x128@100*50,256x256@100*50",
        "verify mypackage.filters:open_filter --video clip.mp4 --arg nireq=2 --json out.json",
        "verify mine.py:open_mine --level zero-growth --html report.html",
        "verify mine.py:open_mine --workload adaptive-ladder --shrink",
        "verify mine.py:open_mine --soak 100000",
    ),
)
