"""The plot of how large each of the backend's buffers is: the capacity of every request."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import Any, TypeAlias

from harness.report.findings import place
from harness.report.plots import COLORS, Plot, curve, over_steps, phase_strip
from harness.report.text import ranges
from harness.result import BufferCurve, Report
from harness.words import plural

_Equal: TypeAlias = list[BufferCurve]
"""buffers of one line of code that are of the same size throughout"""
_Place: TypeAlias = tuple[str, int]
"""file and line"""

_CAPTION = (
    "Bytes of each buffer of the backend's that is alive at the end of a step, by the line that "
    "made it: the capacity of each request. Those of one line are numbered, the largest first; "
    "where several are equal throughout, they are drawn as one. In a cycle a grow-only buffer "
    "never comes down, and goes up on record steps alone."
)


def capacity_plots(report: Report) -> list[Plot]:
    """One plot; none if the backend has no buffer that outlives a step."""
    if not report.buffers:
        return []
    lines = _lines(_equal(report.buffers), len(report.steps))
    figure = over_steps(report.steps, lines, "bytes")
    figure["data"].append(phase_strip(report.steps))
    return [Plot("capacity", "Capacity of buffers", _CAPTION, figure)]


def _equal(buffers: tuple[BufferCurve, ...]) -> list[_Equal]:
    groups: dict[tuple[_Place, tuple[tuple[int, int], ...]], _Equal] = {}
    for buffer in buffers:
        groups.setdefault((_place(buffer), buffer.sizes), []).append(buffer)
    return list(groups.values())


def _lines(groups: list[_Equal], steps: int) -> list[dict[str, Any]]:
    """A line for each group: in a colour of its own, or if they are too many, in its place's."""
    of_place = Counter(_place(equal[0]) for equal in groups)
    places = list(of_place)
    by_place = len(groups) > COLORS
    named: set[_Place] = set()
    lines = []
    for number, equal in enumerate(groups):
        where = _place(equal[0])
        key = places.index(where) if by_place else number
        numbered = not by_place and of_place[where] > 1
        line = curve(
            _short(equal, numbered=numbered),
            _spread(equal[0], steps),
            f"owner-{1 + key % COLORS}",
            about=_whole(equal),
            width=2,
        )
        if by_place:
            line |= {"legendgroup": str(key), "showlegend": where not in named}
            named.add(where)
        lines.append(line)
    return lines


def _place(buffer: BufferCurve) -> _Place:
    return buffer.file, buffer.line


def _short(equal: _Equal, *, numbered: bool) -> str:
    """Few characters, so that a legend has few rows: `buffer.py:62`, `buffer.py:62, 2-4`."""
    name = f"{PurePath(equal[0].file).name}:{equal[0].line}"
    return f"{name}, {ranges(buffer.number for buffer in equal)}" if numbered else name


def _whole(equal: _Equal) -> str:
    numbers = ranges(buffer.number for buffer in equal)
    which = f"number {numbers}" if len(equal) == 1 else f"{plural(len(equal), 'buffer')}, {numbers}"
    return f"{place(*_place(equal[0]))} in {equal[0].function}, {which}"


def _spread(buffer: BufferCurve, steps: int) -> list[int]:
    """Its bytes at the end of every step."""
    values, bytes_now = [], 0
    changes = dict(buffer.sizes)
    for position in range(steps):
        bytes_now = changes.get(position, bytes_now)
        values.append(bytes_now)
    return values
