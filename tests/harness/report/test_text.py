"""Numbers, ranges and foreign text."""

from __future__ import annotations

import pytest

from harness.report.text import allocations, clean, ranges
from harness.words import plural


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([4], "4"),
        ([3, 4, 5], "3-5"),
        ([20, 8, 9, 10, 8], "8-10, 20"),
        (range(0, 40, 2), "0, 2, 4, 6, 8, 10, 12, ..., 38"),
        (range(0, 16, 2), "0, 2, 4, 6, 8, 10, 12, 14"),
    ],
)
def test_ranges(numbers, text: str) -> None:
    assert ranges(numbers) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [bold]text[/bold]", "plain [bold]text[/bold]"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\udcff", "\\udcff"),
        ("a\rb\nc", "a\\rb\\nc"),
        ("\tx", "    x"),
        ("Grüße", "Grüße"),
    ],
)
def test_clean_leaves_nothing_that_acts_on_a_terminal(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_clean_keeps_line_ends_when_asked() -> None:
    assert clean("a\r\nb\x1b\n", lines=True) == "a\nb\\x1b\n"


def test_counts() -> None:
    assert plural(1, "block") == "1 block"
    assert plural(1204, "block") == "1,204 blocks"
    assert plural(3, "stretch") == "3 stretches"
    assert allocations(0, 0) == "0"
    assert allocations(1204, 2_943_120) == "1,204 / 2,943,120"
