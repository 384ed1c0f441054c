"""What was run, in the few words that head a page and tell it from others."""

from __future__ import annotations

from pathlib import PurePath

from harness.report.verdict import WORDS
from harness.result import Report
from harness.words import plural
from harness.workload import SCENARIOS

MOST_IN_TITLE = 60
"""characters of a workload, and of options, in the title of a window"""

_SCENARIOS = {str(workload): name for name, workload in SCENARIOS.items()}


def subject(report: Report) -> list[tuple[str, str]]:
    """Names and values of what was asked for; none that is empty. Foreign text as it came."""
    found = [
        ("target", report.target),
        ("video" if report.video else "workload", fed(report)),
        ("options", options(report)),
        ("level", report.level),
        ("cycles", f"{report.cycles:,}" if report.cycles else ""),
    ]
    return [(name, value) for name, value in found if value]


def fed(report: Report) -> str:
    """The name of the video's file, that of the scenario, or the workload's text."""
    if report.video:
        return PurePath(report.video).name
    return _SCENARIOS.get(report.workload, report.workload)


def options(report: Report) -> str:
    """What the factory was given, as `--arg` takes it: `mode=sync nireq=4`."""
    return " ".join(f"{name}={value}" for name, value in report.options.items())


def title(name: str, report: Report) -> str:
    """What a window with the case's page is called: verdict and name first, as tabs are narrow."""
    target = PurePath(report.target).name
    parts = (
        "" if target == name else target,
        _cut(fed(report)),
        _cut(options(report)),
        report.level,
        plural(report.cycles, "cycle") if report.cycles else "",
    )
    return f"{WORDS[report.verdict]} {name}: {', '.join(filter(None, parts))}"


def _cut(text: str) -> str:
    return text if len(text) <= MOST_IN_TITLE else f"{text[:MOST_IN_TITLE]}..."
