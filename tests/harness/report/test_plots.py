"""What is drawn: the numbers of the report, in their order, and nothing that is code."""

from __future__ import annotations

import json
from typing import Any

from harness.report import clock
from harness.report.plots import Plot, compared, plots
from harness.report.svg import sparkline
from harness.result import Expectation, Report

HOSTILE = '<a href="javascript:x">&amp;</a>\x1b\udcff'


def drawn(report: Report) -> dict[str, Plot]:
    return {plot.name: plot for plot in plots(report)}


def line(plot: Plot, name: str) -> dict[str, Any]:
    (found,) = [trace for trace in plot.figure["data"] if trace.get("name") == name]
    return found


def two_cycles(make_report, make_step) -> Report:
    steps = [
        make_step(cycle, index, phase, backend=(index, 9), **{"odd one": (1, 1)})
        for cycle in (1, 2)
        for index, phase in enumerate(("record", "warm-up", "steady"))
    ]
    for number, step in enumerate(steps):
        step.live_bytes = 100 * number
        step.live_by_owner = {"backend": 90 * number} if number else {}
        step.in_flight = number % 2
    return make_report(steps=tuple(steps), workload="128x96@100*12")


def test_live_bytes_are_drawn_for_all_and_by_owner_each_step_as_wide_as_the_next(
    make_report, make_step
) -> None:
    plot = drawn(two_cycles(make_report, make_step))["live-bytes"]
    assert line(plot, "all owners")["y"] == [0, 100, 200, 300, 400, 500, 500]
    assert line(plot, "backend")["y"] == [0, 90, 180, 270, 360, 450, 450]
    assert line(plot, "size of the frames")["y"] == [128 * 96] * 7
    assert line(plot, "all owners")["text"][4].startswith("cycle 2, step 1, frames 4-7, 128x96")


def test_phases_and_cycles_are_drawn_in(make_report, make_step) -> None:
    figure = drawn(two_cycles(make_report, make_step))["live-bytes"].figure
    (strip,) = [trace for trace in figure["data"] if trace["type"] == "heatmap"]
    assert strip["z"] == [[2, 1, 0, 2, 1, 0]]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [3]
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["cycle 1", "cycle 2"]


def test_of_very_many_steps_each_extreme_is_drawn_at_its_place(make_report, make_step) -> None:
    steps = tuple(make_step(1, index, backend=(3, 9)) for index in range(5000))
    for number, size in ((1234, 9), (2345, 10**9)):
        steps[number].live_bytes = size
    steps[3456].by_owner["backend"].allocations = 77
    steps[4567].phase = "record"
    found = drawn(make_report(steps=steps, workload="8x8@100*20000"))
    live = line(found["live-bytes"], "all owners")
    assert len(live["x"]) == len(live["y"]) == len(live["text"]) < 1010
    points = dict(zip(live["x"], live["y"], strict=True))
    assert points == dict.fromkeys(points, 4096) | {1234: 9, 2345: 10**9}
    assert (live["x"][0], live["x"][-2:]) == (0, [4999, 5000])
    at = live["x"].index(2345)
    assert live["text"][at].startswith("cycle 1, step 2345,")
    assert live["x"] == line(found["live-bytes"], "size of the frames")["x"]
    allocations = line(found["allocations"], "backend")
    assert allocations["y"][allocations["x"].index(3456)] == 77
    in_flight = line(found["in-flight"], "in flight at its end")
    assert in_flight["x"][-2:] == [199.96, 200]
    (strip,) = [trace for trace in found["live-bytes"].figure["data"] if "z" in trace]
    (cell,) = [number for number, phase in enumerate(strip["z"][0]) if phase]
    assert strip["x0"] + strip["dx"] * cell == 4570, "the middle of twenty steps"


def test_allocations_are_stacked_by_owner(make_report, make_step) -> None:
    plot = drawn(two_cycles(make_report, make_step))["allocations"]
    assert line(plot, "backend")["y"] == [0, 1, 2, 0, 1, 2, 2]
    assert line(plot, "odd one")["y"] == [1] * 7
    assert line(plot, "backend")["stackgroup"] == line(plot, "odd one")["stackgroup"]


def test_in_flight_is_drawn_over_the_virtual_clock(make_report, make_step) -> None:
    plot = drawn(two_cycles(make_report, make_step))["in-flight"]
    assert line(plot, "in flight at its end")["x"] == [0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.24]
    assert line(plot, "in flight at its end")["y"] == [0, 1, 0, 1, 0, 1, 1]
    assert line(plot, "submitted in the step")["y"] == [4] * 7


def test_clock_has_the_gaps_of_slow_workloads(make_report, make_step) -> None:
    steps = tuple(make_step(1, index) for index in range(3))
    for number, step in enumerate(steps):
        step.frames = (number, number)
    assert clock.seconds(make_report(steps=steps, workload="8x8@10*3")) == [0, 0.08, 0.2]


def test_without_a_workload_steps_are_counted_instead(make_report, make_step) -> None:
    report = two_cycles(make_report, make_step)
    for workload in ("", "nonsense", "128x96@100*11"):
        report.workload = workload
        assert clock.seconds(report) is None
        assert "x" not in line(drawn(report)["in-flight"], "in flight at its end")
    report.workload = "128x96@100*12"
    report.steps[0].frames = (-5, -3)
    assert clock.seconds(report) is None


def test_a_report_without_steps_draws_what_it_has(make_report) -> None:
    assert plots(make_report(steps=())) == []
    (curve,) = plots(make_report(steps=(), curves={"heap_bytes": (1, 2, 3), "threads": (1, 1)}))
    assert curve.figure["data"][0]["y"] == [1, 2, 3]


def test_an_axis_of_zeros_has_whole_numbers(make_report, make_step) -> None:
    plot = drawn(make_report(steps=(make_step(1, 0, backend=(0, 0)),)))["allocations"]
    assert plot.figure["layout"]["yaxis"]["range"] == [0, 4]


def test_a_report_of_before_live_bytes_were_kept_by_owner_draws_the_total(make_report) -> None:
    names = [trace.get("name") for trace in drawn(make_report())["live-bytes"].figure["data"]]
    assert names == ["all owners", "size of the frames", None]


def test_text_is_escaped_for_plotly_which_takes_it_for_html(make_report, make_step) -> None:
    report = make_report(steps=(make_step(1, 0, **{HOSTILE: (1, 1)}),), curves={HOSTILE: (1, 2)})
    text = json.dumps([plot.figure for plot in plots(report)], ensure_ascii=False)
    text.encode()
    assert "<a" not in text
    assert "&lt;a href=" in text
    assert "&amp;amp;" in text
    assert "\x1b" not in text


def test_many_cycles_are_not_named(make_report, make_step) -> None:
    steps = tuple(make_step(cycle, 0) for cycle in range(1, 40))
    layout = drawn(make_report(steps=steps))["live-bytes"].figure["layout"]
    assert len(layout["shapes"]) == 38
    assert layout["annotations"] == []


def test_two_runs_are_drawn_over_each_other(make_report) -> None:
    plot = compared(make_report(), make_report())
    assert plot is not None
    assert [trace["name"] for trace in plot.figure["data"]] == ["before", "after"]
    assert compared(make_report(steps=()), make_report()) is None


def test_sparkline_keeps_a_spike_among_many_values() -> None:
    values = [0] * 5000
    values[2345] = 10**30
    drawing = sparkline(values, '"<label>')
    heights = [
        float(point.split(",")[1]) for point in drawing.split('points="')[1].split('"')[0].split()
    ]
    assert len(heights) <= 120
    assert heights.count(min(heights)) == 1
    assert "<label>" not in drawing
    assert sparkline([], "nothing") == ""
    assert "nan" not in sparkline([7], "one")


def test_what_is_expected_is_a_dashed_line_with_the_difference_in_words(
    make_report, make_step
) -> None:
    report = two_cycles(make_report, make_step)
    plot = drawn(report)["live-bytes"]
    assert "backend, expected" not in [trace.get("name") for trace in plot.figure["data"]]
    assert "Dashed" not in plot.caption
    expected = (0, 8192, 8192) * 2
    report.expectation = Expectation(expected, expected)
    plot = drawn(report)["live-bytes"]
    assert line(plot, "backend, expected")["y"] == [*expected, 8192]
    assert line(plot, "backend, expected")["line"]["dash"] == "dash"
    assert plot.caption.endswith("They are, to the byte.")
    report.expectation = Expectation(expected, (0, 8192, 8192, 0, 4096, 16384))
    assert (
        "first at step 1 of cycle 2 (128x96) they hold 4,096 bytes, 4,096 fewer than expected; "
        "that is so at 2 of 6 steps, with 8,192 more at most."
    ) in drawn(report)["live-bytes"].caption
