"""What a bench found: tables with their raw values, charts, and the targets held against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

Cell: TypeAlias = "str | int | float"
"""never empty: what was not measured says why"""
Tell: TypeAlias = Callable[[str], None]
"""is told what is being measured, in a few words"""


class Column(msgspec.Struct, frozen=True):
    """The head of a column."""

    name: str
    unit: str = ""


class Line(msgspec.Struct, frozen=True):
    """One series of a chart."""

    name: str
    points: list[tuple[float | str, float]]
    """(x, y); an x of text is a category"""


class Chart(msgspec.Struct, frozen=True):
    """What a section is drawn as: lines, or bars. An axis of numbers is logarithmic."""

    title: str
    x: str
    y: str
    lines: list[Line]
    bars: bool = False
    logarithmic: bool = True
    """the axis of y"""


class Target(msgspec.Struct, frozen=True):
    """A limit, and the worst figure that was measured of it."""

    what: str
    limit: float
    figure: float | None
    """None if it could not be measured; `at` says why then"""
    at: str
    """where it is worst"""
    unit: str = ""
    at_least: bool = False
    """the figure must not be below the limit, where others must not be above it"""

    @property
    def met(self) -> bool | None:
        """Whether the limit is kept, None if nothing was measured."""
        if self.figure is None:
            return None
        return self.figure >= self.limit if self.at_least else self.figure <= self.limit


class Section(msgspec.Struct, frozen=True):
    """One table."""

    name: str
    title: str
    about: str
    """what was measured, and how"""
    columns: list[Column]
    rows: list[list[Cell]]
    notes: list[str] = []
    charts: list[Chart] = []
    targets: list[Target] = []
    raw: dict[str, Any] = {}
    """what the rows were made of: the seconds of each turn, say"""


class Bench(msgspec.Struct, frozen=True):
    """All sections of one call."""

    schema: int
    date: str
    """of the start, UTC, ISO 8601"""
    seconds: float
    environment: dict[str, Any]
    peers: dict[str, str]
    """the version of each, or how a missing one is installed"""
    sections: list[Section]

    @property
    def targets(self) -> list[Target]:
        """Those of all sections."""
        return [target for section in self.sections for target in section.targets]
