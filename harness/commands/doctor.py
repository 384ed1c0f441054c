"""`steadyframe doctor`: what this machine can and can't measure."""

from __future__ import annotations

import sys
from argparse import Namespace

from harness.commands.command import Command
from harness.commands.display import add_display
from harness.commands.exits import EXIT_CODES
from harness.report.console import make_console, say


def run(options: Namespace) -> int:
    """Print every check; the code of no verdict if nothing can be measured."""
    from harness import doctor
    from harness.checks import worst
    from harness.report import doctor as shown

    checks = list(doctor.examine())
    console = make_console(sys.stdout, no_color=options.no_color)
    with console.capture() as captured:
        shown.render(checks, console, brief=options.quiet)
    say(captured.get())
    return EXIT_CODES["no-verdict" if worst(checks) == "bad" else "pass"]


COMMAND = Command(
    "what this machine can and can't measure, and the remedy",
    run,
    add_display,
    description="Exits with 3 if nothing can be measured here.",
    examples=("doctor", "doctor --quiet"),
)
