"""The page and the tables show what is in the JSON, and take no text for anything else."""

from __future__ import annotations

import io
import json
import re

import msgspec
import pytest

from harness.bench import numbers, terminal
from harness.bench.page import bench_page, figure, round_numbers
from harness.bench.section import Bench, Cell, Chart, Column, Line, Section, Target
from harness.report.console import make_console

EVIL = "<script>alert(1)</script>[red]\x1b[2J"
SECTION = Section(
    name="one",
    title=f"Title {EVIL}",
    about=f"About {EVIL}",
    columns=[Column("tool"), Column("time", "s")],
    rows=[[EVIL, 1234.5], ["peer", "missing"]],
    notes=[f"Note {EVIL}"],
    charts=[Chart(EVIL, "x", "y", [Line(EVIL, [(1, 2.0), (10, 3.0)])])],
    targets=[
        Target("fast", 1.0, 1.25, EVIL, at_least=True),
        Target("small", 3.0, 3.5, "there", "s"),
        Target("other", 3.0, None, "missing: install it"),
    ],
)
BENCH = Bench(1, "2026-01-01", 60.0, {"python": EVIL}, {"psleak": "missing: pip"}, [SECTION])


def shown(bench: Bench, width: int = terminal.WIDTH) -> str:
    stream = io.StringIO()
    console = make_console(stream, no_color=True)
    console.width = width
    terminal.render(bench, console)
    return stream.getvalue()


def test_the_page_has_every_text_escaped() -> None:
    page = bench_page(BENCH)
    assert "<script>alert" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "1,234" in page
    assert "missing: pip" in page
    assert "http" not in re.sub(r"Content-Security-Policy|http-equiv", "", page)


def test_the_figures_of_the_page_name_each_line() -> None:
    holder = re.search(r'id="figures">(.*?)</script>', bench_page(BENCH), re.DOTALL)
    assert holder is not None
    (drawn,) = json.loads(holder[1]).values()
    assert drawn["data"][0]["y"] == [2.0, 3.0]
    assert "<script>" not in drawn["data"][0]["name"]


def test_a_terminal_shows_rows_notes_and_targets_as_they_are() -> None:
    text = shown(BENCH)
    assert "\x1b" not in text
    assert "[red]" in text
    assert re.search(r"peer +missing", text)
    assert re.search(r"fast +at least 1 +1.25 .* met", text)
    assert re.search(r"small +at most 3 s +3.5 s +there +MISSED", text)
    assert re.search(r"other +at most 3 +not measured +missing: install it +unknown", text)
    assert "1 of 3 targets met." in text


def test_a_narrow_terminal_loses_nothing() -> None:
    cells: list[Cell] = ["contestant", 1234567, 7654321]
    section = Section("n", "t", "a", [Column(name) for name in ("one", "two", "three")], [cells])
    text = shown(msgspec.structs.replace(BENCH, sections=[section]), width=16)
    assert "…" not in text
    assert sum(map(str.isdigit, text)) == 14


def test_what_is_written_is_what_is_read_back() -> None:
    assert msgspec.json.decode(msgspec.json.encode(BENCH), type=Bench) == BENCH


@pytest.mark.parametrize(
    ("value", "text"),
    [("missing", "missing"), (1234567, "1,234,567"), (1234.6, "1,235"), (12.345, "12.3"), (0, "0")],
)
def test_numbers_have_three_digits_that_count(value: Cell, text: str) -> None:
    assert numbers.cell(value) == text


def test_numbers_are_on_a_logarithmic_axis_and_categories_are_not() -> None:
    lines = figure(Chart("t", "x", "y", [Line("a", [(8, 1.0), (1, 2.0)])]))
    assert lines["data"][0]["type"] == "scatter"
    assert lines["layout"]["xaxis"] == {"showgrid": False, "type": "log", "tickvals": [1, 8]}
    bars = figure(Chart("t", "x", "y", [Line("a", [("b", 1.0)])], bars=True, logarithmic=False))
    assert bars["data"][0]["type"] == "bar"
    assert "type" not in bars["layout"]["xaxis"] | bars["layout"]["yaxis"]


def test_ticks_are_round_numbers_around_what_is_drawn() -> None:
    assert round_numbers([0.4, 3.0]) == pytest.approx([0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50])
    assert round_numbers([0.0]) == []
