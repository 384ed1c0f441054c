"""The picture of a backend's arena: time across, addresses up, a rectangle for each region."""

from __future__ import annotations

from typing import Any

from harness.report.plots import COLORS, Plot, plain
from harness.result import Arena, Region, Report

_MOST_TICKS = 12


def arena_plots(report: Report) -> list[Plot]:
    """One plot, none if the backend told of no arena."""
    return [_plot(report.arena)] if report.arena and report.arena.regions else []


def _plot(arena: Arena) -> Plot:
    steps = 1 + max(region.last for region in arena.regions)
    xaxis = {
        "title": {"text": "steps of an inference"},
        "showgrid": False,
        "zeroline": False,
        "dtick": -(-steps // _MOST_TICKS),
    }
    layout = {
        "xaxis": xaxis,
        "yaxis": {"title": {"text": "bytes"}, "rangemode": "tozero", "exponentformat": "SI"},
        "barmode": "overlay",
        "hovermode": "closest",
        "uniformtext": {"minsize": 9, "mode": "hide"},
    }
    figure = {"data": [_bars(arena.regions)], "layout": layout}
    title = f"Arena for {arena.width}x{arena.height}"
    return Plot("arena", title, _caption(arena.regions), figure)


def _bars(regions: tuple[Region, ...]) -> dict[str, Any]:
    names = list(dict.fromkeys(region.name for region in regions))
    colors = [f"owner-{1 + names.index(region.name) % COLORS}" for region in regions]
    return {
        "type": "bar",
        "x": [(region.first + region.last) / 2 for region in regions],
        "width": [region.last - region.first + 1 for region in regions],
        "base": [region.offset for region in regions],
        "y": [region.bytes for region in regions],
        "text": [plain(region.name) for region in regions],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "hovertext": [_words(region) for region in regions],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": colors, "line": {"color": "paper", "width": 1}},
        "showlegend": False,
    }


def _words(region: Region) -> str:
    when = f"steps {region.first} to {region.last}"
    where = f"{region.bytes:,} bytes at {region.offset:,}, {when}"
    return "<br>".join(plain(text) for text in (region.name, region.about, where) if text)


def _caption(regions: tuple[Region, ...]) -> str:
    total = max(region.offset + region.bytes for region in regions)
    whole = sum(region.whole for region in regions)
    caption = (
        "What lies where in the backend's arena, in which steps of an inference, as the backend "
        "tells it of the workload's largest frame: what shares a place takes turns. Pointing at a "
        f"rectangle shows what it is. The arena takes {total:,} bytes"
    )
    if whole and total:
        caption += f"; all values, each kept whole, would take {whole:,}, {whole / total:.1f} times"
        caption += " as many"
    return f"{caption}."
