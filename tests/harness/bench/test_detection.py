"""The matrix section: what each tool made of each fault, in words, with totals."""

from __future__ import annotations

from harness.bench.detection import section
from harness.bench.matrix import Cell, Matrix, Outcome, Used

TOOLS = (Used(name="steadyframe"), Used(name="other", missing="apt-get install other"))


def cell(fault: str, tool: str, outcome: Outcome, *, at_line: bool = False) -> Cell:
    return Cell(
        fault=fault, rule="grow-only", kind="k", tool=tool, outcome=outcome, at_line=at_line
    )


def matrix(second: Outcome) -> Matrix:
    cells = (
        cell("one", "steadyframe", "found", at_line=True),
        cell("one", "other", "missing"),
        cell("two", "steadyframe", second),
        cell("two", "other", "missing"),
    )
    return Matrix(tools=TOOLS, cells=cells, seconds=1.0)


def test_a_row_has_what_each_tool_made_of_a_fault() -> None:
    found = section(matrix("cannot tell"))
    assert [column.name for column in found.columns[2:]] == ["steadyframe", "other"]
    assert found.rows == [
        ["one", "grow-only", "found at its line", "missing"],
        ["two", "grow-only", "cannot tell", "missing"],
        ["found", "of all", "1 of 2, 1 at its line", "missing"],
    ]
    assert found.notes == ["other is missing: apt-get install other"]


def test_a_fault_that_is_not_found_misses_the_target() -> None:
    (target,) = section(matrix("missed")).targets
    assert (target.figure, target.at, target.met) == (1, "two", False)
    (target,) = section(matrix("found")).targets
    assert target.met
