"""Line charts with logarithmic axes, as one SVG image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 460, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 60, 40, 120, 40
_COLORS = ("#0b62a4", "#c2410c", "#4d7c0f", "#7e22ce")


@dataclass(frozen=True, slots=True)
class Line:
    """One series."""

    name: str
    points: list[tuple[int, int]]
    """(x, y), both above 0"""

    def add(self, x: int, y: int | None) -> None:
        """Add a point, if there is one."""
        if y is not None:
            self.points.append((x, y))


def chart(*panels: tuple[str, Sequence[Line]]) -> str:
    """Panels side by side, of (title, lines); x is a number of frames."""
    drawn = "".join(
        f'<g transform="translate({number * _WIDTH} 0)">{_panel(title, lines)}</g>'
        for number, (title, lines) in enumerate(panels)
    )
    width = _WIDTH * len(panels)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12"><rect width="{width}" height="{_HEIGHT}" '
        f'fill="white"/>{drawn}</svg>\n'
    )


def _panel(title: str, lines: Sequence[Line]) -> str:
    points = [point for line in lines for point in line.points] or [(1, 1)]
    xs, ys = zip(*points, strict=True)
    across, up = _Axis(xs, _LEFT, _WIDTH - _RIGHT), _Axis(ys, _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<text x="{_LEFT}" y="20" font-weight="bold">{escape(title)}</text>',
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, "frames run", "middle"),
    ]
    for value in across.ticks:
        parts.append(_text(across.at(value), _HEIGHT - _BOTTOM + 16, f"{value:,}", "middle"))
    for value in up.ticks:
        at = up.at(value)
        parts.append(f'<path d="M{_LEFT} {at:.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>')
        parts.append(_text(_LEFT - 6, at + 4, f"{value:,}", "end"))
    parts += [_drawn(number, line, across, up) for number, line in enumerate(lines)]
    return "".join(parts)


def _drawn(number: int, line: Line, across: _Axis, up: _Axis) -> str:
    color = _COLORS[number % len(_COLORS)]
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in places)
    named = line.name if places else f"{line.name}: none"
    label = _text(_WIDTH - _RIGHT + 12, _TOP + 18 * number, named, "start", color)
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>{dots}{label}'


def _text(x: float, y: float, text: str, anchor: str, color: str = "#222") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}">{escape(text)}</text>'
    )


class _Axis:
    """Where a value is drawn, on a logarithmic scale."""

    def __init__(self, values: Sequence[int], start: float, end: float) -> None:
        self._least = math.log(min(values))
        self._span = math.log(max(values)) - self._least or 1.0
        self._start, self._end = start, end
        self.ticks = sorted(set(values))

    def at(self, value: int) -> float:
        share = (math.log(value) - self._least) / self._span
        return self._start + share * (self._end - self._start)
