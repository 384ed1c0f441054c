"""How numbers, ranges and foreign text are written, the same in every renderer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

_BARS = "▁▂▃▄▅▆▇█"
MOST_RANGES = 8
"""a longer list of ranges says no more than its beginning and its length"""


def clean(text: str, *, lines: bool = False) -> str:
    """Make text that a backend had a hand in safe to show.

    Control characters could move the cursor, recolour the terminal or hide a line, and lone
    surrogates cannot be encoded at all: they are shown as escapes. `lines` keeps line ends.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or (lines and character == "\n")
        else _escape(character)
        for character in (text.replace("\r\n", "\n") if lines else text)
    )


def _escape(character: str) -> str:
    return "    " if character == "\t" else character.encode("unicode_escape").decode("ascii")


def uri(path: str) -> str:
    """A path as a part of an address, also one whose name is not UTF-8."""
    return quote(path.encode("utf-8", "surrogatepass"))


def allocations(count: int, size: int) -> str:
    """Allocations with their bytes: `0`, or `1,204 / 2,943,120`."""
    return f"{count:,} / {size:,}" if count or size else "0"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers with runs drawn together: `3-12, 15, 17-20`."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    parts = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs]
    if len(parts) > MOST_RANGES:
        parts[MOST_RANGES - 1 : -1] = ["..."]
    return ", ".join(parts)


def sparkline(values: Sequence[int]) -> str:
    """The values as bars of eight heights, from the smallest to the largest of them."""
    if not values:
        return ""
    least, most = min(values), max(values)
    span = max(most - least, 1)
    return "".join(_BARS[(value - least) * (len(_BARS) - 1) // span] for value in values)
