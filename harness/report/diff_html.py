"""Two runs compared, as a web page."""

from __future__ import annotations

from harness.report.diff import Diff, headline
from harness.report.pages import page
from harness.report.plots import compared
from harness.report.verdict import WORDS


def diff_page(found: Diff) -> str:
    """One page with all in it, the script that draws the plot included."""
    plot = compared(found.before, found.after)
    return page(
        "diff.html",
        embed=True,
        title="steadyframe: two runs compared",
        found=found,
        headline=headline(found),
        words=WORDS,
        plots=[plot] if plot else [],
        figures={plot.name: plot.figure} if plot else {},
    )
