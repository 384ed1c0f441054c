"""The two streams: results on stdout, all else on stderr, and neither may break a verdict."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from harness.errors import UsageError
from harness.report.text import clean

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_WORD = 300
"""characters"""


def prepare_streams() -> None:
    """Make writing safe: to a stream that was closed, and of text that it cannot encode."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(text: str) -> None:
    """Write to stdout, all of it at once. A reader that went away (`| head`) changes no verdict."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        give_up_stdout()
        if not isinstance(error, BrokenPipeError):
            raise UsageError(f"cannot write to standard output ({error.strerror})") from error


def give_up_stdout() -> None:
    """Write nothing more to it: what is buffered would raise again when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """Write one line to stderr, whatever the text holds."""
    line = " ".join(_shortened(word) for word in text.split())
    print(f"steadyframe: {clean(line)}", file=sys.stderr, flush=True)


def _shortened(word: str) -> str:
    """Without its middle, if it is longer than a path of use: a message repeats what was typed."""
    if len(word) <= _LONGEST_WORD:
        return word
    return f"{word[: _LONGEST_WORD // 2]}...{word[-_LONGEST_WORD // 4 :]}"


def make_console(stream: TextIO, *, no_color: bool) -> Console:
    """A console that takes no text for markup; without `no_color`, NO_COLOR still decides."""
    from rich.console import Console

    return Console(
        file=stream, no_color=no_color or None, highlight=False, markup=False, emoji=False
    )
