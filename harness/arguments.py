"""The arguments of the command: what there is, and every mistake in one line."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NoReturn

from harness.commands import COMMANDS
from harness.errors import UsageError
from harness.report.console import say

_EXIT_CODES = """
exit codes: 0 the contract holds, 1 it is violated, 2 bad usage or input, 3 no verdict
(the backend crashed, hung, was killed or could not be measured)"""


def read(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Namespace:
    """Read the arguments; a UsageError says what is wrong with them."""
    options, unknown = parser.parse_known_args(argv)
    if unknown:
        # argparse would name no subcommand here, and so point to the wrong help.
        raise UsageError(
            f"unknown argument {unknown[0]!r}: see `steadyframe {options.name} --help`"
        )
    if check := COMMANDS[options.name].check:
        check(options)
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
        epilog=_examples([command.examples[0] for command in COMMANDS.values()]) + _EXIT_CODES,
        **layout,
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, dest="name"
    )
    for name, command in COMMANDS.items():
        described = command.description or f"{command.help[0].upper()}{command.help[1:]}."
        its = commands.add_parser(
            name,
            help=command.help,
            description=described,
            epilog=_examples(command.examples),
            **layout,
        )
        if command.add_arguments:
            command.add_arguments(its)
    return parser


def _examples(lines: Sequence[str]) -> str:
    return "".join(("examples:\n", *(f"  steadyframe {line}\n" for line in lines)))
