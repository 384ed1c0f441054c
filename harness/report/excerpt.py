"""The source around a finding, from the file as it lies on this machine."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import NamedTuple

from harness.report.text import clean

AROUND = 2
"""lines shown before and after the line of a finding"""
LARGEST_SOURCE = 4 << 20
"""bytes; a larger file is no source that a person wrote"""


class Line(NamedTuple):
    """One line of source."""

    number: int
    text: str
    """without its end, and safe to show"""
    is_found: bool
    """whether the finding is on it"""


def excerpt(file: str, line: int) -> list[Line]:
    """The line of a finding and its neighbours; none if they cannot be read."""
    first = max(line - AROUND, 1)
    lines = _lines(file, first, line + AROUND) if line > 0 else []
    if len(lines) <= line - first:
        return []
    return [
        Line(number, clean(content.rstrip("\r\n")), number == line)
        for number, content in enumerate(lines, first)
    ]


def dedented(lines: list[Line]) -> list[Line]:
    """The same lines without the indentation that all of them have: for narrow columns."""
    depths = [len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip()]
    depth = min(depths, default=0)
    return [line._replace(text=line.text[depth:]) for line in lines]


def _lines(file: str, first: int, last: int) -> list[str]:
    path = Path(file)
    try:
        # The path comes from what was measured: a pipe or a device would block, or never end.
        if not path.is_file() or path.stat().st_size > LARGEST_SOURCE:
            return []
        with path.open(encoding="utf-8", errors="replace") as source:
            return list(islice(source, first - 1, last))
    except (OSError, ValueError):
        return []
