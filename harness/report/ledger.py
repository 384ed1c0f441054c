"""What the process held before the first cycle, at most, and after the last: one row for each."""

from __future__ import annotations

from typing import Any, NamedTuple

from harness.report.text import clean
from harness.result import Extent, Teardown

CAPTION = "With a peak: at native speed, at the ends of steps. Without: in the traced run."
COLUMNS = ("held by the process", "before", "peak", "after", "difference")


class Row(NamedTuple):
    """One thing that is held, its amounts in words."""

    name: str
    before: str
    peak: str
    """empty if nothing is known of it between the cycles"""
    after: str
    difference: str


def ledger(teardown: Teardown) -> list[Row]:
    """The rows in the order of the report: without what the tracer holds, where that is known."""
    before, after, native = teardown.baseline, teardown.after, teardown.native
    return [
        _measured(key, native[key]) if key in native else _row(key, before.get(key), after.get(key))
        for key in dict.fromkeys((*before, *after, *native))
    ]


def _measured(key: str, extent: Extent) -> Row:
    return Row(
        key,
        f"{extent.before:,}",
        f"{extent.peak:,}",
        f"{extent.after:,}",
        _difference(extent.before, extent.after),
    )


def _row(key: str, before: Any, after: Any) -> Row:
    return Row(key, _value(before), "", _value(after), _difference(before, after))


def _amount(value: Any) -> Any:
    """What is counted: of a list, its length."""
    return len(value) if isinstance(value, (list, tuple)) else value


def _value(value: Any) -> str:
    amount = _amount(value)
    if amount is None:
        return "-"
    return f"{amount:,}" if isinstance(amount, (int, float)) else clean(str(amount))


def _difference(before: Any, after: Any) -> str:
    one, other = _amount(before), _amount(after)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)) and one != other:
        return f"{other - one:+,}"
    return "0" if before == after else "changed"
