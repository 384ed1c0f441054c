"""The command `steadyframe`: arguments in, an exit code out, no logic of its own.

Only what reads the arguments is imported at the top: `--help`, and every mistake in the arguments,
must answer at once, and also where nothing else is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import traceback
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from harness.errors import UsageError
from harness.report.console import complain, make_console, prepare_streams, say

if TYPE_CHECKING:
    from harness.report.progress import Observer

EXIT_CODES = {"pass": 0, "fail": 1, "no-verdict": 3}
USAGE = 2
OUR_BUG = 70
"""sysexits' EX_SOFTWARE: a bug of ours must not look like any verdict"""
INTERRUPTED = 130

DEFAULT_WORKLOAD = "concat-jump"
LEVELS = {
    "zero-growth": "live bytes do not grow over steady steps, and everything is released",
    "zero-owned": "also no allocation by the backend's own code on a steady step (default)",
    "zero-malloc": "no allocation by anyone in the process but the harness on a steady step",
}

_DEPENDENCIES = ("av", "memray", "msgspec", "numpy", "psutil", "rich", "torch")
_EXIT_HELP = """\
exit codes: 0 the contract holds, 1 it is violated, 2 bad usage or input, 3 no verdict
(the backend crashed, hung, was killed or could not be measured)"""
_EPILOG = f"""\
examples:
  steadyframe verify espcn
  steadyframe verify mypackage.filters:open_filter --workload 128x128@100*50,256x256@100*50
  steadyframe verify mypackage.filters:open_filter --video clip.mp4 --arg nireq=2 --json out.json
  steadyframe report
  steadyframe list

{_EXIT_HELP}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    prepare_streams()
    try:
        return _dispatch(sys.argv[1:] if argv is None else argv)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        return OUR_BUG
    finally:
        say("")  # flushes what argparse printed


def _dispatch(argv: Sequence[str]) -> int:
    options = parse(argv)
    command: Callable[[Namespace], int] = options.command
    try:
        return command(options)
    except ModuleNotFoundError as error:
        if error.name not in _DEPENDENCIES:
            raise
        raise UsageError(f"{error.name} is not installed: run `make setup`") from error


# --- commands -----------------------------------------------------------------------------------


def _verify(options: Namespace) -> int:
    from harness.report import files, terminal
    from harness.report.json import to_json
    from harness.verify import verify
    from harness.workload import Workload

    _import_from_here()
    workload = None if options.video else Workload.named_or_parsed(options.workload)
    to_stdout = options.json == Path("-")
    if options.json and not to_stdout:
        files.check_writable(options.json)
    with _watch(options, options.target) as observer:
        report = verify(
            options.target,
            workload,
            video=options.video,
            level=options.level,
            cycles=options.cycles,
            warmup=options.warmup,
            seed=options.seed,
            options=dict(options.arg),
            owners=options.owner,
            progress=observer,
            **({} if options.timeout is None else {"timeout": options.timeout}),
        )
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


# --- arguments ----------------------------------------------------------------------------------


def parse(argv: Sequence[str]) -> Namespace:
    """Read the arguments; a UsageError says what is wrong with them."""
    options, unknown = _parser().parse_known_args(argv)
    if unknown:
        # argparse would name no subcommand here, and so point to the wrong help.
        raise UsageError(
            f"unknown argument {unknown[0]!r}: see `steadyframe {options.name} --help`"
        )
    if options.name == "verify":
        if options.workload and options.video:
            raise UsageError("--workload and --video exclude each other: leave one out")
        options.workload = options.workload or DEFAULT_WORKLOAD
        keys = [key for key, _ in options.arg]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise UsageError(f"--arg {min(twice)} is given more than once: leave one out")
    return options


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}: see `{self.prog} --help`")


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for: importlib.metadata is slow to import."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            say(f"steadyframe {version('steadyframe')}\n")
        except PackageNotFoundError:
            say("steadyframe (not installed)\n")
        parser.exit()


def _parser() -> _Parser:
    layout: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = _Parser(
        prog="steadyframe",
        description="Prove that a video inference backend allocates nothing per frame, grows its\n"
        "buffers only for a larger frame, and gives everything back.",
        epilog=_EPILOG,
        **layout,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="name"
    )
    _add_verify(commands.add_parser("verify", help="verify one backend", epilog=_EPILOG, **layout))
    report = commands.add_parser(
        "report",
        help="verify the shipped models on a real video, and write a report of each",
        description="The exit code is that of the worst case: a violation is worse than no\n"
        "verdict, and that is worse than a pass.",
        epilog=_EXIT_HELP,
        **layout,
    )
    report.add_argument("--video", type=_file, metavar="FILE", help="instead of a generated clip")
    report.add_argument(
        "--output", type=Path, default=Path("reports"), metavar="DIR", help="default: reports"
    )
    _add_display(report)
    report.set_defaults(command=_report)
    listing = commands.add_parser("list", help="list short names, workloads and levels", **layout)
    listing.set_defaults(command=_list)
    return parser


def _add_verify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "target",
        metavar="TARGET",
        help="package.module:factory, file.py:factory, or a name from `list`",
    )
    add("--workload", metavar="TEXT_OR_NAME", help=f"default: {DEFAULT_WORKLOAD}")
    add("--video", type=_file, metavar="FILE", help="decode this file instead of a workload")
    add("--level", choices=LEVELS, default="zero-owned", help="default: zero-owned; see `list`")
    add("--cycles", type=_at_least(1), default=3, metavar="N", help="open-to-close; default: 3")
    add("--warmup", type=_at_least(0), metavar="N", help="frames; default: 8, or 2 x nireq + 2")
    add("--arg", type=_keyword, action="append", default=[], metavar="KEY=VALUE",
        help="to the factory; an int, float, true, false or text; repeatable")  # fmt: skip
    add("--json", type=_file, metavar="FILE", help="write the report as JSON; - is stdout")
    add(
        "--timeout", type=_seconds, metavar="SECONDS", help="give up after so long without progress"
    )
    add("--seed", type=_at_least(0), default=0, metavar="N", help="of the frames; default: 0")
    add("--owner", type=_owner, action="append", default=[], metavar="NAME=GLOB",
        help="whose code a file or function is; before the defaults; repeatable")  # fmt: skip
    _add_display(parser)
    parser.set_defaults(command=_verify)


def _add_display(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress, and only the outcome")
    parser.add_argument("--no-color", action="store_true", help="as the variable NO_COLOR")


def _file(text: str) -> Path:
    if not text or "\0" in text:
        raise ArgumentTypeError("the name of a file is missing")
    return Path(text)


def _at_least(least: int) -> Callable[[str], int]:
    def whole(text: str) -> int:
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return whole


def _seconds(text: str) -> float:
    value = _value(text)
    if isinstance(value, (bool, str)) or not 0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return float(value)


def _keyword(text: str) -> tuple[str, int | float | bool | str]:
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise ArgumentTypeError(f"{text!r} is not KEY=VALUE with a Python name as its KEY")
    return key, _value(value)


def _value(text: str) -> int | float | bool | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    # Not just int() and float(): they also take 1_0, nan and infinity, which are more likely names.
    if re.fullmatch(r"[+-]?\d{1,18}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE):
        return float(text)
    return text


def _owner(text: str) -> tuple[str, str]:
    name, equals, glob = text.partition("=")
    if not equals or not name or not glob:
        raise ArgumentTypeError(f"{text!r} is not NAME=GLOB, such as backend=*/mypackage/*.py")
    return name, glob
