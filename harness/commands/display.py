"""What commands show while they work, and the options that all have for it."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.report.progress import Observer


def add_display(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--quiet", action="store_true", help="no progress, and only the outcome")
    parser.add_argument("--no-color", action="store_true", help="as the variable NO_COLOR")


def watch(options: Namespace, label: str) -> AbstractContextManager[Observer | None]:
    """Shows how far a run is, on stderr; nothing with --quiet."""
    if options.quiet:
        return nullcontext()
    from harness.report.console import make_console
    from harness.report.progress import shown

    return shown(label, make_console(sys.stderr, no_color=options.no_color))


def import_from_here() -> None:
    """Let a target lie in the current folder, as `python -m` does: a script's path lacks it."""
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
