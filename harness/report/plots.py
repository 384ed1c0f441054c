"""The plots of a report as data for plotly's script: what is drawn, and no code.

Colours are names of the page's palette (see templates/style.css), so that one figure does for
light, dark and paper. Every text goes through `plain`: plotly takes some of it for HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

from harness.expectation import difference
from harness.plan import TICKS_PER_SECOND
from harness.report import clock, thinning
from harness.report.text import clean
from harness.result import Report, Step

Figure: TypeAlias = dict[str, Any]
"""{"data": [...], "layout": {...}} as plotly's newPlot takes it"""

_SLOTS = {"backend": 1, "model": 2, "interpreter": 3, "runtime": 4}
_FREE_SLOTS = (5, 6, 7, 8)
COLORS = 8
"""of the palette, owner-1 and so on"""
MOST_LABELS = 12
"""cycles that are named at their line: more would run into each other"""
_LONGEST_NAME = 40
"""characters of a legend's entry"""
_PHASES = ("steady", "warm-up", "record")


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot, and what to look for in it."""

    name: str
    """unique on the page, of letters, digits and dashes"""
    title: str
    caption: str
    figure: Figure


def plots(report: Report) -> list[Plot]:
    """All that the report has numbers for."""
    if not report.steps:
        return _curves(report)
    return [
        _live(report),
        _allocations(report),
        _in_flight(report),
        *_curves(report),
    ]


def plain(text: str) -> str:
    """Text that plotly shows as it is."""
    return escape(clean(text), quote=False)


def _live(report: Report) -> Plot:
    owners = sorted({owner for step in report.steps for owner in step.live_by_owner})
    total = [step.live_bytes for step in report.steps]
    everyone = curve("all owners", total, "ink", width=2, fill=True)
    lines = [
        curve(owner, [step.live_by_owner.get(owner, 0) for step in report.steps], color)
        for owner, color in _colors(owners)
    ]
    lines = [everyone, *lines, *_expected(report), _pixels(report.steps)]
    figure = over_steps(report.steps, lines, "bytes")
    figure["data"].append(phase_strip(report.steps))
    figure["layout"]["yaxis2"] = {
        "title": {"text": "pixels per frame"},
        "overlaying": "y",
        "side": "right",
        "rangemode": "tozero",
        "showgrid": False,
        "tickmode": "auto",
    }
    caption = (
        "Bytes allocated since the run began and not yet freed, at the end of each step. Over "
        "steady steps the line must not rise, and each cycle but the first, which has first use in "
        "it, must reach the same height. Dotted: the size of the frames. The strip below the plot "
        "is the phase: blue for record steps, amber for warm-up, nothing for steady steps."
    )
    if report.expectation is not None:
        differs = difference(report.expectation, report.steps)
        caption += " Dashed: what the backend says its buffers, blocks of a page or more, must be. "
        caption += f"{differs[0].upper()}{differs[1:]}." if differs else "They are, to the byte."
    return Plot("live-bytes", "Live bytes", caption, figure)


def _expected(report: Report) -> list[dict[str, Any]]:
    if report.expectation is None:
        return []
    line = curve("backend, expected", report.expectation.expected, "ink")
    line["line"]["dash"] = "dash"
    return [line]


def _allocations(report: Report) -> Plot:
    steps = report.steps
    lines = [
        curve(
            owner,
            [step.by_owner[owner].allocations if owner in step.by_owner else 0 for step in steps],
            color,
            stack=True,
        )
        for owner, color in _colors(sorted({owner for step in steps for owner in step.by_owner}))
    ]
    figure = over_steps(steps, lines or [curve("all owners", [0] * len(steps), "ink")], "number")
    figure["data"].append(phase_strip(steps))
    caption = (
        "What each owner allocated in each step, stacked. At level zero-owned the backend's must "
        "be 0 on steady steps, at zero-malloc everybody's."
    )
    return Plot("allocations", "Allocations per step", caption, figure)


def _in_flight(report: Report) -> Plot:
    steps = report.steps
    times = clock.seconds(report)
    burst = [last - first + 1 for first, last in (step.frames for step in steps)]
    submitted = curve("submitted in the step", burst, "owner-2")
    held = curve("in flight at its end", [step.in_flight for step in steps], "owner-1", width=2)
    figure = over_steps(steps, [submitted, held], "frames", times)
    caption = (
        "Frames that arrive in each tick of 1/25 s, and those not yet returned when the backend is "
        "at rest again: none, or a constant few that a pipeline holds back."
    )
    return Plot("in-flight", "Requests in flight", caption, figure)


def _curves(report: Report) -> list[Plot]:
    found = []
    for number, (name, values) in enumerate(report.curves.items()):
        if len(set(values)) < 2:
            continue
        figure = _figure([curve(name, values, "owner-1", width=2)], name)
        figure["layout"]["xaxis"]["title"] = {"text": "samples, evenly spaced over the run"}
        found.append(Plot(f"curve-{number}", name, "Over the run, at native speed.", figure))
    return found


def over_steps(
    steps: Sequence[Step], lines: list[Any], unit: str, times: Sequence[float] | None = None
) -> Figure:
    """Lines over all steps, with a mark where each cycle begins; what a step is, on hovering."""
    shown = thinning.drawn([line["y"] for line in lines])
    at = times if times is not None else range(len(steps))
    end = len(steps) if times is None else round(times[-1] + 1 / TICKS_PER_SECOND, 2)
    for line in lines:
        line["y"] = [line["y"][n] for n in shown]
        line["y"].append(line["y"][-1])  # the last step is as wide as the others
        if times is not None or len(shown) < len(steps):
            line["x"] = [*(at[n] for n in shown), end]
    lines[0]["text"] = [
        f"cycle {step.cycle}, step {step.index}, frames {step.frames[0]}-{step.frames[1]}, "
        f"{step.width}x{step.height}, {step.phase}"
        for step in (steps[n] for n in (*shown, -1))
    ]
    lines[0]["hovertemplate"] = "%{y:,}<br>%{text}<extra>%{meta}</extra>"
    figure = _figure(lines, unit)
    title = "steps of all cycles" if times is None else "seconds of the virtual clock, all cycles"
    figure["layout"]["xaxis"]["title"] = {"text": title}
    figure["layout"] |= _cycles(steps, at)
    return figure


def _cycles(steps: Sequence[Step], at: Sequence[float]) -> dict[str, Any]:
    """A line and a name where each cycle begins."""
    starts = [n for n, step in enumerate(steps) if not n or step.cycle != steps[n - 1].cycle]
    lines = [
        {"type": "line", "x0": at[n], "x1": at[n], "yref": "paper", "y0": 0, "y1": 1,
         "layer": "below", "line": {"color": "muted", "width": 1}}
        for n in starts[1:]
    ]  # fmt: skip
    names = [
        {"x": at[n], "y": 1, "yref": "paper", "yanchor": "bottom", "xanchor": "left",
         "text": f"cycle {steps[n].cycle}", "showarrow": False}
        for n in starts
        if len(starts) <= MOST_LABELS
    ]  # fmt: skip
    return {"shapes": lines, "annotations": names}


def _figure(lines: list[Any], unit: str) -> Figure:
    yaxis: dict[str, Any] = {
        "title": {"text": plain(unit)},
        "rangemode": "tozero",
        "exponentformat": "SI",
    }
    if not any(any(line["y"]) for line in lines if "yaxis" not in line):
        yaxis["range"] = [0, 4]  # whole numbers, where plotly would choose parts of one
    layout = {
        "xaxis": {"showgrid": False},
        "yaxis": yaxis,
        "hovermode": "x unified" if len(lines) > 1 else "x",
    }
    return {"data": lines, "layout": layout}


def curve(
    name: str,
    values: Sequence[int],
    color: str,
    *,
    about: str = "",
    width: float = 1.5,
    fill: bool = False,
    stack: bool = False,
) -> dict[str, Any]:
    """One line, named in the legend; pointing at it shows what it is about, or the whole name."""
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "name": plain(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."),
        "y": list(values),
        "line": {"color": color, "width": width, "shape": "hv"},
        "meta": plain(about or name),
        "hovertemplate": "%{y:,}<extra>%{meta}</extra>",
    }
    if fill:
        line |= {"fill": "tozeroy", "fillcolor": "shade"}
    if stack:
        line["stackgroup"] = "one"
    return line


def _pixels(steps: Sequence[Step]) -> dict[str, Any]:
    line = curve("size of the frames", [step.width * step.height for step in steps], "muted")
    line["line"]["dash"] = "dot"
    return line | {"yaxis": "y2", "hoverinfo": "skip", "hovertemplate": None}


def phase_strip(steps: Sequence[Step]) -> dict[str, Any]:
    """One row of coloured cells under the plot; of many steps one for each part, record first."""
    phases = [_PHASES.index(step.phase) for step in steps]
    parts = thinning.parts(len(steps), thinning.CELLS)
    width = len(steps) / len(parts)
    return {
        "type": "heatmap",
        "z": [[max(phases[n] for n in part) for part in parts]],
        "x0": width / 2,  # the middle of the first cell
        "dx": width,
        "yaxis": "y3",
        "zmin": 0,
        "zmax": 2,
        "colorscale": [
            [0, "clear"], [0.33, "clear"], [0.33, "warm-up"], [0.66, "warm-up"],
            [0.66, "record"], [1, "record"],
        ],
        "showscale": False,
        "hoverinfo": "skip",
    }  # fmt: skip


def _colors(owners: Sequence[str]) -> list[tuple[str, str]]:
    """Each owner with its colour: always the same one for those that every report has."""
    others = [owner for owner in owners if owner not in _SLOTS]
    slots = _SLOTS | {o: _FREE_SLOTS[n % len(_FREE_SLOTS)] for n, o in enumerate(others)}
    return [(owner, f"owner-{slots[owner]}") for owner in owners]


def compared(before: Report, after: Report) -> Plot | None:
    """The live bytes of two runs over each other; None if either has none."""
    if not before.steps or not after.steps:
        return None
    lines = [
        curve("before", [step.live_bytes for step in before.steps], "muted"),
        curve("after", [step.live_bytes for step in after.steps], "owner-1", width=2),
    ]
    figure = _figure(lines, "bytes")
    figure["layout"]["xaxis"]["title"] = {"text": "steps of all cycles"}
    return Plot("compared", "Live bytes", "At the end of each step, of all owners.", figure)
