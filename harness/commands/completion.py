"""`steadyframe completion`: a script that completes commands, options and names in a shell."""

from __future__ import annotations

import argparse
from argparse import Namespace
from importlib import import_module

from harness.commands.command import Command
from harness.report.console import say

SHELLS = ("bash", "zsh", "fish")
"""each a module of harness.completion"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    parser.add_argument("shell", choices=SHELLS, help="whose language the script is in")


def run(options: Namespace) -> int:
    """Print the script."""
    # The parser is made of all commands, this one among them.
    from harness.arguments import make_parser
    from harness.completion.words import described

    say(import_module(f"harness.completion.{options.shell}").script(*described(make_parser())))
    return 0


COMMAND = Command(
    "print a script that completes commands, options and names in a shell",
    run,
    add_arguments,
    description="Prints a script for a shell. It completes commands, options and their values,\n"
    "files, workloads, and the short names of the packages that are installed now.",
    examples=(
        "completion bash > ~/.local/share/bash-completion/completions/steadyframe",
        "completion zsh > ~/.zfunc/_steadyframe",
        "completion fish > ~/.config/fish/completions/steadyframe.fish",
    ),
)
