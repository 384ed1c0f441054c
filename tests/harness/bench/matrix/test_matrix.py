"""The matrix: each fault and its twin under each tool, missing tools, and the table."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from harness.bench import matrix
from harness.bench.matrix.show import main, render
from harness.bench.tools.steadyframe import STEADYFRAME
from harness.bench.tools.tool import Run, Said, Tool
from harness.errors import UsageError
from harness.selftest import Planted

NAMES = ("lost-raw", "close-deadlocks")


def look(run: Planted) -> Said:
    """A tool that finds leaks by their totals, and hangs with what does."""
    if run.name == "close-deadlocks" and run.rule:
        return Said(failed="hung")
    return Said(totals={"lost": 9 if run.rule else 1})


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> list[Tool]:
    """One that is there, and one that is not."""

    @contextlib.contextmanager
    def opened() -> Iterator[Run]:
        yield look

    def remedy(name: str) -> str | None:
        return "apt-get install absent" if name == "absent" else None

    monkeypatch.setattr(matrix, "remedy", remedy)
    monkeypatch.setattr(matrix, "version", lambda _: "1.0")
    return [Tool("here", opened), Tool("absent", opened)]


def test_a_cell_for_each_fault_and_tool(tools: list[Tool]) -> None:
    told: list[matrix.Cell] = []
    found = matrix.measure(NAMES, 2, told.append, tools)
    assert [(cell.tool, cell.fault, cell.outcome) for cell in found.cells] == [
        ("here", "close-deadlocks", "no run"),
        ("here", "lost-raw", "found"),
        ("absent", "close-deadlocks", "missing"),
        ("absent", "lost-raw", "missing"),
    ]
    assert {cell.fault for cell in told} == set(NAMES)
    assert found.tools[1].missing == "apt-get install absent"


def test_a_total_that_is_worse_is_held_against_a_second_run_of_the_twin() -> None:
    totals = iter([9, 1, 8])

    @contextlib.contextmanager
    def opened() -> Iterator[Run]:
        yield lambda _: Said(totals={"lost": next(totals)})

    (cell,) = matrix._column(Tool("here", opened), matrix.pairs_of(["lost-raw"]), 1, lambda _: None)
    assert cell.outcome == "cannot tell"


def test_what_is_ours_finds_a_fault_at_its_line() -> None:
    (cell,) = matrix.measure(["lost-raw"], 1, tools=[STEADYFRAME]).cells
    assert (cell.outcome, cell.at_line) == ("found", True)
    assert cell.words == "steady-growth: leak-per-frame"


def test_every_fault_has_a_twin_and_a_name_that_there_is_not_is_told() -> None:
    pairs = matrix.pairs_of([])
    assert all(twin.twin and twin.name == fault.name for fault, twin in pairs)
    with pytest.raises(UsageError, match="did you mean 'lost-raw'"):
        matrix.pairs_of(["lost-rew"])


def test_a_wrong_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lost-rew"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_table_fits_and_ends_with_sums(tools: list[Tool]) -> None:
    printed = io.StringIO()
    render(matrix.measure(NAMES, tools=tools), Console(file=printed, width=100))
    lines = printed.getvalue().splitlines()
    assert max(map(len, lines)) <= 100
    rows = [line.split() for line in lines if line.strip()]
    assert ["lost-raw", "found", "missing"] in rows
    assert ["no-verdict", "0", "of", "1", "missing"] in rows
    assert ["found", "1", "of", "2", "missing"] in rows
    assert "close-deadlocks, here: no run, hung" in lines
    assert "absent is missing: apt-get install absent" in lines
