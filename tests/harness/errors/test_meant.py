"""What is said of a name that there isn't."""

from __future__ import annotations

import pytest

from harness.errors import MOST_NAMES, meant, near

NAMES = ("zero-growth", "zero-owned", "open_mine", "Faulty")


@pytest.mark.parametrize(
    ("name", "close"),
    [
        ("zero_growth", "zero-growth"),
        ("Zero-Ownd", "zero-owned"),
        ("open_mnie", "open_mine"),
        ("open-mine", "open_mine"),
        ("faulty", "Faulty"),
        ("qqq", None),
        ("", None),
    ],
)
def test_the_nearest_name_is_meant(name: str, close: str | None) -> None:
    assert near(name, NAMES) == close
    if close:
        assert meant(name, NAMES) == f"did you mean {close!r}?"


def test_where_none_is_near_some_of_all_are_told() -> None:
    assert meant("qqq", NAMES) == "choose from zero-growth, zero-owned, open_mine, Faulty"
    many = [f"case-{number}" for number in range(1000 + MOST_NAMES)]
    assert meant("qqq", iter(many)) == f"choose from {', '.join(many[:MOST_NAMES])} and 1,000 more"
    assert meant("qqq", ()) == "there are none"
