"""The size of each buffer over the steps: what is equal is one line, and the legend stays short."""

from __future__ import annotations

from typing import Any

from harness.report.capacity import capacity_plots
from harness.result import BufferCurve, Report


def lines(make_report, make_step, *buffers: BufferCurve) -> list[dict[str, Any]]:
    """What is drawn of these buffers over two cycles of two steps."""
    steps = tuple(make_step(cycle, index) for cycle in (1, 2) for index in (0, 1))
    report: Report = make_report(steps=steps, buffers=buffers)
    (plot,) = capacity_plots(report)
    return [trace for trace in plot.figure["data"] if trace["type"] == "scatter"]


def test_there_is_a_line_for_each_buffer_and_no_plot_without_any(make_report, make_step) -> None:
    assert capacity_plots(make_report()) == []
    first, second = lines(
        make_report,
        make_step,
        BufferCurve("/deep/b.py", 7, "f", 1, ((0, 4096), (2, 0), (3, 8192))),
        BufferCurve("/deep/b.py", 7, "f", 2, ((1, 4096),)),
    )
    assert (first["name"], first["y"]) == ("b.py:7, 1", [4096, 4096, 0, 8192, 8192])
    assert (second["name"], second["y"]) == ("b.py:7, 2", [0, 4096, 4096, 4096, 4096])
    assert first["line"]["color"] != second["line"]["color"]


def test_equal_buffers_of_one_line_of_code_are_one_line_that_names_them(
    make_report, make_step
) -> None:
    sizes = ((0, 4096),)
    requests, other = lines(
        make_report,
        make_step,
        *(BufferCurve("/deep/b.py", 7, "f", number, sizes) for number in (1, 2, 3, 4)),
        BufferCurve("/deep/<c>.py", 9, "g", 1, sizes),
    )
    assert (requests["name"], other["name"]) == ("b.py:7", "&lt;c&gt;.py:9")
    assert requests["meta"] == "/deep/b.py:7 in f, 4 buffers, 1-4"
    assert other["meta"] == "/deep/&lt;c&gt;.py:9 in g, number 1"
    assert "%{meta}" in requests["hovertemplate"]


def test_more_than_there_are_colours_have_that_of_their_place_and_one_entry_for_all(
    make_report, make_step
) -> None:
    drawn = lines(
        make_report,
        make_step,
        *(
            BufferCurve(f"{place}.py", 7, "f", number, ((0, 4096 * number),))
            for place in "abc"
            for number in range(1, 5)
        ),
    )
    assert len(drawn) == 12
    assert len({line["meta"] for line in drawn}) == 12
    shown = [line for line in drawn if line["showlegend"]]
    assert [line["name"] for line in shown] == ["a.py:7", "b.py:7", "c.py:7"]
    assert len({line["line"]["color"] for line in shown}) == 3
    assert {(line["legendgroup"], line["line"]["color"]) for line in drawn} == {
        (line["legendgroup"], line["line"]["color"]) for line in shown
    }
