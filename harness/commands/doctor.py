"""`steadyframe doctor`: what this machine can and can't measure."""

from __future__ import annotations

import argparse
import sys
from argparse import Namespace

from harness.commands.command import Command
from harness.commands.exits import EXIT_CODES
from harness.report.console import make_console, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add its own."""
    parser.add_argument("--no-color", action="store_true", help="as the variable NO_COLOR")


def run(options: Namespace) -> int:
    """Print every check; the code of no verdict if nothing can be measured."""
    from harness import doctor
    from harness.report import doctor as shown

    checks = list(doctor.examine())
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        shown.render(checks, console)
    say(captured.get())
    return EXIT_CODES["no-verdict" if doctor.worst(checks) == "bad" else "pass"]


COMMAND = Command(
    "what this machine can and can't measure, and the remedy",
    run,
    add_arguments,
    description="Exits with 3 if nothing can be measured here.",
)
