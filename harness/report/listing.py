"""What can be asked for: short names, workloads, levels. Nothing is imported to list a target."""

from __future__ import annotations

from collections.abc import Mapping

from harness.errors import SETUP
from harness.report.text import clean
from harness.targets import origin, reference, registered, schemes
from harness.workload import SCENARIOS


def listing(levels: Mapping[str, str]) -> str:
    """The text of `steadyframe list`."""
    points = [point for claims in registered().values() for point in claims]
    targets = [(point.name, f"{reference(point)}  [{origin(point)}]") for point in points]
    targets += [
        (f"{name}:TEXT", f"{reference(point)}  [{origin(point)}]")
        for name, point in schemes().items()
    ]
    return "\n".join(
        (
            *_section("targets (or package.module:factory, or path/to/file.py:factory)", targets),
            *(() if targets else (f"  none: short names need an installed steadyframe: {SETUP}",)),
            "",
            *_section(
                "workloads (or any WIDTHxHEIGHT[:FORMAT]@FPS*FRAMES,...)",
                [(name, str(workload)) for name, workload in SCENARIOS.items()],
            ),
            "",
            *_section("levels", list(levels.items())),
            "",
        )
    )


def _section(title: str, entries: list[tuple[str, str]]) -> list[str]:
    width = max((len(name) for name, _ in entries), default=0)
    return [f"{title}:", *(f"  {clean(name):<{width}}  {clean(text)}" for name, text in entries)]
