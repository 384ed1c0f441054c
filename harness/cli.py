"""The command `steadyframe`: arguments in, an exit code out, no logic of its own.

Only what reads the arguments is imported at the top: `--help`, and every mistake in the arguments,
must answer at once, and also where nothing else is installed.
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.arguments import LEVELS, make_parser, read
from harness.errors import UsageError
from harness.report.console import complain, give_up_stdout, make_console, prepare_streams, say

if TYPE_CHECKING:
    from harness.report.progress import Observer
    from harness.result import Report
    from harness.workload import Workload

EXIT_CODES = {"pass": 0, "fail": 1, "no-verdict": 3}
USAGE = 2
OUR_BUG = 70
"""sysexits' EX_SOFTWARE: a bug of ours must not look like any verdict"""
INTERRUPTED = 130

_DEPENDENCIES = ("av", "memray", "msgspec", "numpy", "psutil", "rich", "torch")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    prepare_streams()
    try:
        code = _dispatch(sys.argv[1:] if argv is None else argv)
        say("")  # flushes what else was printed
        return code
    except UsageError as error:
        complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except OSError as error:
        # Of what is written, only the standard streams have no name.
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF):
            give_up_stdout()
            complain(f"cannot write to standard output ({error.strerror})")
            return USAGE
        traceback.print_exc()
        return OUR_BUG
    except Exception:
        traceback.print_exc()
        return OUR_BUG


def _dispatch(argv: Sequence[str]) -> int:
    options = read(make_parser(), argv)
    command = _COMMANDS[options.name]
    try:
        return command(options)
    except ModuleNotFoundError as error:
        if error.name not in _DEPENDENCIES:
            raise
        raise UsageError(f"{error.name} is not installed: run `make setup`") from error


def _verify(options: Namespace) -> int:
    from harness.report import files, terminal
    from harness.report.json import to_json
    from harness.workload import Workload

    _import_from_here()
    workload = None if options.video else Workload.named_or_parsed(options.workload)
    to_stdout = options.json == Path("-")
    if options.json and not to_stdout:
        files.check_writable(options.json)
    with _watch(options, options.target) as observer:
        report = _made(options, workload, observer)
    if to_stdout:
        say(to_json(report))
        return EXIT_CODES[report.verdict]
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        if options.quiet:
            console.print(terminal.verdict_line(report), soft_wrap=True)
        else:
            terminal.render(report, console)
    say(captured.get())
    if options.json:
        files.write(options.json, to_json(report))
    return EXIT_CODES[report.verdict]


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
        "progress": observer,
    }
    if (timeout := _first(options.timeout, project.timeout)) is not None:
        asked["timeout"] = timeout
    if options.soak is not None:
        from harness.verify_soak import verify_soak

        return verify_soak(options.target, options.soak, workload, **asked)
    from harness.verify import verify

    if (cycles := _first(options.cycles, project.cycles)) is not None:
        asked["cycles"] = cycles
    level = options.level or project.level or "zero-owned"
    return verify(
        options.target,
        workload,
        level=level,
        stateful=options.stateful,
        quick=options.quick,
        **asked,
    )


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _report(options: Namespace) -> int:
    from harness import cases
    from harness.report import terminal

    done = cases.run(options.video, options.output, partial(_watch, options))
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        for _, report in done:
            if report.verdict != "pass" and not options.quiet:
                terminal.render(report, console)
                console.print()
        cases.render(done, options.output, console)
    say(captured.get())
    return EXIT_CODES[cases.worst(report for _, report in done)]


def _list(_options: Namespace) -> int:
    from harness.report.listing import listing

    say(listing(LEVELS))
    return 0


def _import_from_here() -> None:
    """Let a target lie in the current folder, as `python -m` does: a script's path lacks it."""
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)


def _watch(options: Namespace, label: str) -> AbstractContextManager[Observer | None]:
    if options.quiet:
        return nullcontext()
    from harness.report.progress import shown

    return shown(label, make_console(sys.stderr, no_color=options.no_color))


_COMMANDS: dict[str, Callable[[Namespace], int]] = {
    "verify": _verify,
    "report": _report,
    "list": _list,
}
