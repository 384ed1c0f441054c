"""The arguments of the command: what there is, and every mistake in one line.

Nothing heavy is imported: `--help` must answer at once, and also where nothing else is installed.
"""

from __future__ import annotations

import argparse
import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import UsageError
from harness.report.console import say

DEFAULT_WORKLOAD = "concat-jump"
LEVELS = {
    "zero-growth": "live bytes do not grow over steady steps, and everything is released",
    "zero-owned": "also no allocation by the backend's own code on a steady step (default)",
    "zero-malloc": "no allocation by anyone in the process but the harness on a steady step",
}

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


def read(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Namespace:
    """Read the arguments; a UsageError says what is wrong with them."""
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # argparse would name no subcommand here, and so point to the wrong help.
        raise UsageError(
            f"unknown argument {unknown[0]!r}: see `steadyframe {options.name} --help`"
        )
    if options.name == "verify":
        if options.workload and options.video:
            raise UsageError("--workload and --video exclude each other: leave one out")
        if options.workload is None:
            options.workload = DEFAULT_WORKLOAD
        beside_soak = (options.level, options.cycles, options.stateful, options.quick)
        if options.soak is not None and any(beside_soak):
            raise UsageError(
                "--soak is one long cycle that is screened for growth: "
                "leave out --level, --cycles, --stateful and --quick"
            )
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


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands; `name` is the command that was given."""
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
    commands.add_parser("list", help="list short names, workloads and levels", **layout)
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
    add("--level", choices=LEVELS, help="default: zero-owned; see `list`")
    add("--cycles", type=_at_least(1), metavar="N", help="open-to-close; default: 3")
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
    add("--stateful", action="store_true", help="results depend on earlier frames, by design")
    add("--quick", action="store_true", help="the traced run alone; what needs more is skipped")
    add("--soak", type=_at_least(1), metavar="FRAMES",
        help="so many frames in one cycle, screened for growth at native speed")  # fmt: skip
    add("--memory-limit", type=_bytes, metavar="BYTES",
        help="that a run may take beyond what it starts with; 512M and 2G will do")  # fmt: skip
    _add_display(parser)


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


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d{1,15})([KMG]?)", text, re.ASCII | re.IGNORECASE)
    if not match or not int(match[1]):
        raise ArgumentTypeError(f"{text!r} is not a number of bytes, such as 512M")
    return int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()]


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
