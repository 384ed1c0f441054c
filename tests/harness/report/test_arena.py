"""The arena as a picture: a rectangle for each region, and all of it in the caption."""

from __future__ import annotations

from harness.report.arena import arena_plots
from harness.report.html import case_page
from harness.result import Arena, Region

HOSTILE = "<b>\x1b"


def test_each_region_is_a_rectangle_of_its_time_and_place(make_report) -> None:
    regions = (
        Region("input", 0, 1000, 0, 3, "plane", 1000),
        Region("conv", 1024, 512, 2, 2, HOSTILE, 9000),
        Region("conv", 1024, 256, 3, 3),
    )
    (plot,) = arena_plots(make_report(arena=Arena(640, 480, regions)))
    (bars,) = plot.figure["data"]
    assert list(zip(bars["x"], bars["width"], bars["base"], bars["y"], strict=True)) == [
        (1.5, 4, 0, 1000),
        (2, 1, 1024, 512),
        (3, 1, 1024, 256),
    ]
    assert bars["hovertext"][0] == "input<br>plane<br>1,000 bytes at 0, steps 0 to 3"
    assert bars["hovertext"][1].startswith("conv<br>&lt;b&gt;")
    colors = bars["marker"]["color"]
    assert colors[0] != colors[1] == colors[2]
    assert plot.title == "Arena for 640x480"
    assert "The arena takes 1,536 bytes" in plot.caption
    assert "each kept whole, would take 10,000, 6.5 times as many" in plot.caption


def test_nothing_is_drawn_of_no_arena_and_nothing_compared_without_whole_values(
    make_report,
) -> None:
    assert arena_plots(make_report()) == []
    assert arena_plots(make_report(arena=Arena(1, 1, ()))) == []
    (plot,) = arena_plots(make_report(arena=Arena(1, 1, (Region("a", 0, 0, 0, 0),))))
    assert "whole" not in plot.caption


def test_the_picture_is_on_the_page_of_its_case(make_report) -> None:
    page = case_page("one", make_report(arena=Arena(64, 48, (Region("a", 0, 64, 0, 0),))))
    assert 'id="plot-arena"' in page
