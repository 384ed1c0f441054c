"""The arguments of the command: what there is, and every mistake in one line."""

from __future__ import annotations

import argparse
import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NoReturn

from harness.commands import COMMANDS
from harness.errors import UsageError, meant, near
from harness.report.console import say

_EXIT_CODES = """
exit codes: 0 the contract holds, 1 it is violated, 2 bad usage or input, 3 no verdict
(the backend crashed, hung, was killed or could not be measured), 70 a bug in steadyframe,
130 interrupted"""

_WORKLOAD = "--workload"
_STEP = re.compile(r"\d+x\d+")


def read(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Namespace:
    """Read the arguments; a UsageError says what is wrong with them."""
    options = parser.parse_args(argv)
    if check := COMMANDS[options.name].check:
        check(options)
    return options


class _Parser(argparse.ArgumentParser):
    """Tells what was meant by what is mistyped."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        # An unknown option is told before what is missing on its account.
        for word in args:
            if word == "--" or (self._subparsers and not word.startswith("-")):
                break  # the rest is another command's, or a subcommand's
            if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions:
                self._refuse(word)
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            # Here, as only a subcommand's own parser points to its help.
            self._refuse(unknown[0])
        return options, unknown

    def _refuse(self, word: str) -> NoReturn:
        options = self._option_string_actions
        close = near(word.partition("=")[0], options if word.startswith("-") else ())
        if _STEP.match(word) and _WORKLOAD in options:
            close = f"{_WORKLOAD} {word}"
        # Behind a `--` stands what would be right before it.
        hint = f": did you mean {close!r}?" if close and close != word else ""
        self.error(f"unknown argument {word!r}{hint}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            hint = meant(value, action.choices)
            raise argparse.ArgumentError(action, f"there is no {value!r}: {hint}")

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


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
