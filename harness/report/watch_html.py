"""A watched process as a web page."""

from __future__ import annotations

from typing import Any

from harness.report import watch_words as words
from harness.report.pages import page
from harness.report.plots import Figure, Plot, plain
from harness.watch.drift import PARTS
from harness.watch.result import Watched

_JUDGED = {"memory": ("ink", 2.0)}
_MEASURES = {
    "uss": ("owner-1", 1.5),
    "pss": ("owner-2", 1.5),
    "rss": ("owner-3", 1.5),
    "swap": ("owner-4", 1.5),
}
_COUNTS = {
    "threads": ("owner-1", 1.5),
    "fds": ("owner-2", 1.5),
    "processes": ("owner-3", 1.5),
}


def watch_page(report: Watched) -> str:
    """The page, with the script that draws in it."""
    drawn = [_judged(report), _measures(report), _counts(report)] if report.samples else []
    return page(
        "watch.html",
        embed=True,
        title=f"{words.word(report)} {report.watched}",
        report=report,
        word=words.word(report),
        headline=words.headline(report),
        growth=list(words.growth(report)),
        ending=words.ending(report),
        method=words.method(report),
        columns=words.COLUMNS,
        rows=list(words.table(report)),
        sites=[(words.size(site.bytes), site) for site in report.sites],
        plots=drawn,
        figures={plot.name: plot.figure for plot in drawn},
    )


def _judged(report: Watched) -> Plot:
    figure = _figure(report, _JUDGED, "bytes")
    # Its own range: a drift may be small beside what a process holds.
    del figure["layout"]["yaxis"]["rangemode"]
    caption = (
        "What is judged: anonymous and shared memory of the process and all below it, each page by "
        "its share, and what of it is swapped out."
    )
    if report.trend is not None:
        x = report.samples[report.start].at
        figure["data"].append(_fitted(report))
        figure["layout"]["shapes"] = [
            {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1,
             "layer": "below", "line": {"color": "muted", "width": 1, "dash": "dot"}}
        ]  # fmt: skip
        caption += (
            " Left of the dotted line is the start-up. Dashed: the floor, as it grows after it."
        )
    return Plot("judged", "Memory", caption, figure)


def _measures(report: Watched) -> Plot:
    caption = "The usual measures, with pages of files: the kernel takes and drops those."
    return Plot("measures", "Other measures", caption, _figure(report, _MEASURES, "bytes"))


def _counts(report: Watched) -> Plot:
    caption = "Threads, open file descriptors and processes; they are not judged."
    return Plot("counts", "Other resources", caption, _figure(report, _COUNTS, "number"))


def _fitted(report: Watched) -> dict[str, Any]:
    """The growth as a line, from the floor of the first part of the steady state on."""
    assert report.trend is not None
    steady = report.samples[report.start : report.end]
    floor = min(sample.memory for sample in steady[: max(1, len(steady) // PARTS)])
    seconds = steady[-1].at - steady[0].at
    ends = [floor, floor + report.trend.per_second * seconds]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "growth",
        "x": [steady[0].at, steady[-1].at],
        "y": [round(end) for end in ends],
        "line": {"color": "fail" if report.verdict == "fail" else "muted", "dash": "dash"},
        "hoverinfo": "skip",
    }


def _figure(report: Watched, lines: dict[str, tuple[str, float]], unit: str) -> Figure:
    times = [round(sample.at, 3) for sample in report.samples]
    data: list[Any] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": plain(words.QUANTITIES[name]),
            "x": times,
            "y": [getattr(sample, name) for sample in report.samples],
            "line": {"color": color, "width": width},
            "hovertemplate": "%{y:,}<extra>%{fullData.name}</extra>",
        }
        for name, (color, width) in lines.items()
    ]
    layout = {
        "xaxis": {"showgrid": False, "title": {"text": "seconds since the watch began"}},
        "yaxis": {"title": {"text": unit}, "rangemode": "tozero", "exponentformat": "SI"},
        "hovermode": "x unified",
    }
    return {"data": data, "layout": layout}
