"""What a command is."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """What it is asked, and what it then calls."""

    help: str
    """one line"""
    run: Callable[[Namespace], int]
    """returns an exit code"""
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    check: Callable[[Namespace], None] | None = None
    """raises UsageError for options that exclude each other"""
    description: str = ""
    """what `--help` says at its top, if it is more than `help`"""
    examples: tuple[str, ...] = ()
    """calls of it, without the `steadyframe` before them"""
