"""A bench as one web page: targets, and each section with its plots and its table."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from harness.bench import numbers
from harness.bench.section import Bench, Chart, Line, Section
from harness.report.pages import page
from harness.report.plots import Plot, plain

_COLORS = 8
"""that the page's palette has for lines"""


def bench_page(bench: Bench) -> str:
    """The page; plotly's script is to lie beside it."""
    sections = [_section(section) for section in bench.sections]
    plots = [plot for section in sections for plot in section["plots"]]
    met = [target.met for target in bench.targets]
    return page(
        "bench.html",
        title="steadyframe bench",
        verdict="fail" if False in met else "no-verdict" if None in met else "pass",
        sentence=numbers.sentence(bench),
        bench=bench,
        target_columns=numbers.TARGET_COLUMNS,
        targets=[(numbers.target_row(target), target.met) for target in bench.targets],
        sections=sections,
        environment=_facts(bench.environment),
        plots=plots,
        figures={plot.name: plot.figure for plot in plots},
    )


def _section(section: Section) -> dict[str, Any]:
    return {
        "section": section,
        "heads": [numbers.head(column) for column in section.columns],
        "right": [numbers.is_number(section.rows, n) for n in range(len(section.columns))],
        "rows": [[numbers.cell(cell) for cell in row] for row in section.rows],
        "plots": [
            Plot(f"{section.name}-{n}", chart.title, _caption(chart), figure(chart))
            for n, chart in enumerate(section.charts)
        ],
    }


def _caption(chart: Chart) -> str:
    return f"{chart.y}, by {chart.x}" if chart.x else chart.y


def figure(chart: Chart) -> dict[str, Any]:
    """The chart as plotly takes it."""
    values = {x for line in chart.lines for x, _ in line.points if not isinstance(x, str)}
    xaxis: dict[str, Any] = {"showgrid": False}
    if values:
        xaxis |= {"type": "log", "tickvals": sorted(values)}
    yaxis: dict[str, Any] = {}
    if chart.logarithmic:
        heights = (y for line in chart.lines for _, y in line.points)
        yaxis |= {"type": "log", "tickvals": round_numbers(heights)}
    return {
        "data": [_trace(number, line, bars=chart.bars) for number, line in enumerate(chart.lines)],
        "layout": {
            "xaxis": xaxis,
            "yaxis": yaxis,
            "hovermode": "closest" if chart.bars else "x unified",
        },
    }


def round_numbers(values: Iterable[float]) -> list[float]:
    """The numbers 1, 2 and 5 times a power of ten from the least value to the greatest, and beyond.

    plotly itself would write 0.5 as 5, since the power of ten is further down.
    """
    found = [value for value in values if value > 0]
    if not found:
        return []
    first, last = (math.floor(math.log10(end)) for end in (min(found), max(found)))
    return [digit * 10.0**power for power in range(first, last + 2) for digit in (1, 2, 5)]


def _trace(number: int, line: Line, *, bars: bool) -> dict[str, Any]:
    color = f"owner-{1 + number % _COLORS}"
    drawn: dict[str, Any] = (
        {"type": "bar", "marker": {"color": color}}
        if bars
        else {"type": "scatter", "mode": "lines+markers", "line": {"color": color, "width": 2}}
    )
    return drawn | {
        "name": plain(line.name),
        "x": [plain(x) if isinstance(x, str) else x for x, _ in line.points],
        "y": [y for _, y in line.points],
        "hovertemplate": "%{y:.3g}<extra>%{fullData.name}</extra>",
    }


def _facts(environment: dict[str, Any]) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    for name, value in environment.items():
        inner = value.items() if isinstance(value, dict) else [(name, value)]
        facts += [(str(key), str(fact)) for key, fact in inner]
    return facts
