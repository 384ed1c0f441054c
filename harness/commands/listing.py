"""`steadyframe list`: short names, workloads and levels."""

from __future__ import annotations

from argparse import Namespace

from harness.commands.command import Command
from harness.commands.levels import LEVELS
from harness.report.console import say


def run(_options: Namespace) -> int:
    """Print the list."""
    from harness.report.listing import listing

    say(listing(LEVELS))
    return 0


COMMAND = Command("list short names, workloads and levels", run, examples=("list",))
