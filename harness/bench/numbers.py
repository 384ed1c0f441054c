"""How the numbers of a bench are written, in every renderer."""

from __future__ import annotations

from harness.bench.section import Bench, Cell, Column, Target
from harness.report.text import clean
from harness.words import plural


def cell(value: Cell) -> str:
    """A number with three digits that count and thousands separators; text as it is."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def head(column: Column) -> str:
    """The name of a column with its unit."""
    return f"{column.name}, {column.unit}" if column.unit else column.name


def is_number(rows: list[list[Cell]], column: int) -> bool:
    """Whether a column holds numbers, wherever something was measured."""
    return any(not isinstance(row[column], str) for row in rows)


TARGET_COLUMNS = ("target", "limit", "measured", "where", "")


def target_row(target: Target) -> tuple[str, str, str, str, str]:
    """As TARGET_COLUMNS has it."""
    unit = f" {target.unit}" if target.unit else ""
    limit = f"at {'least' if target.at_least else 'most'} {cell(target.limit)}{unit}"
    measured = "not measured" if target.figure is None else f"{cell(target.figure)}{unit}"
    return clean(target.what), limit, measured, clean(target.at), word(target)


def word(target: Target) -> str:
    """Whether it is met."""
    return {True: "met", False: "MISSED", None: "unknown"}[target.met]


def sentence(bench: Bench) -> str:
    """What came out, in one line."""
    targets = bench.targets
    met = sum(target.met is True for target in targets)
    return f"{met} of {plural(len(targets), 'target')} met."
