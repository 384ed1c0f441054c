"""What can be typed after `steadyframe`, as its parser has it.

Read from argparse's own lists of actions and commands, so that no option is written down twice.
Short names are those of the packages that are installed when the script is made.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from typing import Literal

from harness.commands import kinds
from harness.names import METHODS
from harness.targets import registered
from harness.workload import SCENARIOS

Place = Literal["", "file", "folder", "command"]
_PLAIN = re.compile(r"[\w.+-]+", re.ASCII)
"""What no shell takes for anything but a word. Other packages name their targets as they like."""


@dataclass(frozen=True, slots=True)
class Value:
    """What an option or an operand takes."""

    name: str
    words: tuple[str, ...] = ()
    place: Place = ""
    """what else it may be the name of"""


@dataclass(frozen=True, slots=True)
class Option:
    """One option."""

    names: tuple[str, ...]
    help: str
    values: tuple[Value, ...] = ()
    """none for a flag"""
    repeatable: bool = False


@dataclass(frozen=True, slots=True)
class Described:
    """A command, or, without a name, what stands before all of them."""

    name: str
    help: str
    options: tuple[Option, ...]
    operand: Value | None = None


def described(parser: argparse.ArgumentParser) -> tuple[Described, tuple[Described, ...]]:
    """What stands before a command, and the commands."""
    [commands] = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    helps = {action.dest: action.help or "" for action in commands._choices_actions}
    return (
        _described("", "", parser),
        tuple(_described(name, helps[name], its) for name, its in commands.choices.items()),
    )


def _described(name: str, its_help: str, parser: argparse.ArgumentParser) -> Described:
    options = tuple(
        Option(
            tuple(action.option_strings),
            (action.help or "") % {**vars(action), "prog": parser.prog},
            tuple(_values(action)),
            # Not all of argparse's actions are public.
            isinstance(action, argparse._AppendAction),
        )
        for action in parser._actions
        if action.option_strings
    )
    operands = (
        value
        for action in parser._actions
        if not action.option_strings and not isinstance(action, argparse._SubParsersAction)
        for value in _values(action)
    )
    return Described(name, its_help, options, next(operands, None))


def _values(action: argparse.Action) -> list[Value]:
    if action.nargs == 0:
        return []
    names = action.metavar or action.dest
    return [_value(action, name) for name in ((names,) if isinstance(names, str) else names)]


def _value(action: argparse.Action, name: str) -> Value:
    if action.choices is not None:
        return Value(name, tuple(map(str, action.choices)))
    if name == "TARGET":
        return Value(name, tuple(filter(_PLAIN.fullmatch, registered())), "file")
    if name == "TEXT_OR_NAME":
        return Value(name, tuple(SCENARIOS))
    if name == "METHOD=NAME":
        return Value(name, tuple(f"{method}=" for method in METHODS))
    if name == "COMMAND":
        return Value(name, place="command")
    if name == "DIR":
        return Value(name, place="folder")
    return Value(name, place="file" if action.type is kinds.file else "")
