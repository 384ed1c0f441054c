"""The numbers of one case as a table of several shows them, in words."""

from __future__ import annotations

from typing import NamedTuple

from harness.report.summary import growth_events, leaks, steady_allocations, steady_steps
from harness.result import Report


class CaseNumbers(NamedTuple):
    """One row."""

    steady: str
    """steady steps"""
    allocations: tuple[str, ...]
    """per steady step, a line for each owner; foreign text as it came"""
    growth: str
    """events"""
    survivors: str
    time: str


def numbers_of(report: Report) -> CaseNumbers:
    """Those of a report."""
    left = leaks(report)
    return CaseNumbers(
        f"{len(steady_steps(report)):,}",
        tuple(
            f"{owner} {least:,}" + (f"..{most:,}" if most != least else "")
            for owner, (least, most) in steady_allocations(report).items()
        ),
        f"{growth_events(report):,}",
        "unknown" if left is None else f"{left[0]:,}",
        f"{report.cost.wall_s:.1f} s",
    )
