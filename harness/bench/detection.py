"""The matrix section: which tool finds which planted fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from harness.bench import matrix
from harness.bench.section import Cell, Chart, Column, Line, Section, Target, Tell

ABOUT = (
    "Every planted fault and its repaired twin, really run under every tool. found: it says "
    "something of the faulty backend and nothing of the repaired one; at its line: it names "
    "that as well; cannot tell: it says something of both; no run: it came to no answer. Peers are "
    "given the totals of the repaired twin beside those of the fault, which nobody has in practice."
)


def measure(_: int, tell: Tell) -> Section:
    """The table of all faults; what is found is exact, so that there are no turns."""
    return section(matrix.measure(tell=_telling(tell)))


def _telling(tell: Tell) -> Callable[[matrix.Cell], None]:
    return lambda cell: tell(f"{cell.tool}: {cell.fault}, {cell.outcome}")


def section(found: matrix.Matrix) -> Section:
    """A row for each fault, a column for each tool."""
    tools = [tool.name for tool in found.tools]
    by_fault: dict[str, list[matrix.Cell]] = {}
    for cell in found.cells:
        by_fault.setdefault(cell.fault, []).append(cell)
    return Section(
        name="matrix",
        title="Which tool finds which planted fault",
        about=ABOUT,
        columns=[Column("fault"), Column("rule"), *map(Column, tools)],
        rows=[
            *(_row(name, cells, tools) for name, cells in by_fault.items()),
            ["found", "of all", *(_found(cells) for cells in _by_tool(found, tools))],
        ],
        notes=[f"{tool.name} is missing: {tool.missing}" for tool in found.tools if tool.missing],
        charts=[_chart(found, tools)],
        targets=[_target(found)],
        raw={"cells": msgspec.to_builtins(found.cells)},
    )


def _row(fault: str, cells: Sequence[matrix.Cell], tools: Sequence[str]) -> list[Cell]:
    of = {cell.tool: cell for cell in cells}
    words = ["found at its line" if of[tool].at_line else str(of[tool].outcome) for tool in tools]
    return [fault, cells[0].rule, *words]


def _by_tool(found: matrix.Matrix, tools: Sequence[str]) -> list[list[matrix.Cell]]:
    return [[cell for cell in found.cells if cell.tool == tool] for tool in tools]


def _found(cells: Sequence[matrix.Cell]) -> str:
    if all(cell.outcome == "missing" for cell in cells):
        return "missing"
    count = sum(cell.outcome == "found" for cell in cells)
    return f"{count} of {len(cells)}, {sum(cell.at_line for cell in cells)} at its line"


def _chart(found: matrix.Matrix, tools: Sequence[str]) -> Chart:
    counts: list[tuple[float | str, float]] = [
        (tool, sum(cell.outcome == "found" for cell in cells))
        for tool, cells in zip(tools, _by_tool(found, tools), strict=True)
        if any(cell.outcome != "missing" for cell in cells)
    ]
    return Chart(
        "Faults found", "", "faults", [Line("found", counts)], bars=True, logarithmic=False
    )


def _target(found: matrix.Matrix) -> Target:
    ours = [cell for cell in found.cells if cell.tool == found.tools[0].name]
    others = [cell.fault for cell in ours if cell.outcome != "found"]
    what = f"{found.tools[0].name}: planted faults not found, or found in the repaired twin, too"
    return Target(what, 0, len(others), ", ".join(others) or f"{len(ours)} faults")
