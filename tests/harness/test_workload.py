"""Workloads: their text form, what is said of wrong text, and the named scenarios."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.frame import PIXEL_FORMATS
from harness.errors import UsageError
from harness.plan import plan_steps
from harness.workload import (
    MAX_FPS,
    MAX_FPS_DENOMINATOR,
    MAX_FRAMES,
    MAX_SIDE,
    SCENARIOS,
    Segment,
    Workload,
)

rates = st.one_of(
    st.fractions(
        min_value=Fraction(1, 1000), max_value=MAX_FPS, max_denominator=MAX_FPS_DENOMINATOR
    ),
    st.integers(1, MAX_FPS).map(Fraction),
    st.decimals(min_value="0.001", max_value=MAX_FPS, places=4).map(Fraction),
    st.builds(Fraction, st.integers(1, 10**6), st.sampled_from([2**29, 5**12, 10**9, 1001])),
)
segments = st.builds(
    Segment,
    width=st.integers(1, 8192),
    height=st.integers(1, 8192),
    fps=rates,
    frames=st.integers(1, 10_000),
    format=st.none() | st.sampled_from(sorted(PIXEL_FORMATS)),
)
workloads = st.lists(segments, min_size=1, max_size=5).map(lambda s: Workload(tuple(s)))


@given(workloads)
def test_the_text_of_a_workload_parses_to_the_same_workload(workload: Workload) -> None:
    text = str(workload)
    assert Workload.parse(text) == workload
    assert Workload.parse(text.replace(",", " ,\n ")) == workload
    assert Workload.named_or_parsed(text) == workload


def test_parse_reads_every_field() -> None:
    workload = Workload.parse(" 128x96@100*50 , 1x2:grayf32@23.976*3,5x5:gray8@24000/1001*1")
    assert workload.segments == (
        Segment(128, 96, Fraction(100), 50, None),
        Segment(1, 2, Fraction(23976, 1000), 3, "grayf32"),
        Segment(5, 5, Fraction(24000, 1001), 1, "gray8"),
    )
    assert workload.frame_count == 54


@pytest.mark.parametrize(
    ("rate", "printed"),
    [
        ("23.976", "23.976"),
        ("30", "30"),
        ("30.0", "30"),
        ("24000/1001", "24000/1001"),
        ("60/2", "30"),
        ("25/2", "12.5"),
        ("0.5", "0.5"),
        ("1/3", "1/3"),
        ("1/1024", "1/1024"),
        ("0.04", "0.04"),
        ("100.01", "100.01"),
    ],
)
def test_a_rate_is_printed_in_its_shortest_exact_form(rate: str, printed: str) -> None:
    assert str(Workload.parse(f"8x8@{rate}*1")) == f"8x8@{printed}*1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "the workload is empty"),
        ("  ", "the workload is empty"),
        ("128*128@25*10", "segment 1 '128*128@25*10' (column 1): did you mean 128x128@25*10?"),
        ("128 x 128 @ 25 * 10", "did you mean 128x128@25*10?"),
        ("128X128@25*10", "did you mean 128x128@25*10?"),
        ("128x128@25x10", "did you mean 128x128@25*10?"),
        ("128x128@25fps*10", "did you mean 128x128@25*10?"),
        ("8x8@1*1, 128x128@25", "segment 2 '128x128@25' (column 10): the number of frames is mis"),
        ("128x128*25", "the frame rate is missing (@FPS)"),
        ("128@25*10", "'128' is not WIDTHxHEIGHT"),
        ("-8x8@25*10", "'-8x8' is not WIDTHxHEIGHT"),
        ("8x8@-25*10", "'-25' is not a frame rate"),
        ("8x8@1e3*10", "'1e3' is not a frame rate"),
        ("8x8@25*-1", "'-1' is not a number of frames"),
        ("8x8@25*", "'' is not a number of frames"),
        ("8x8@25*1,", "segment 2 '' (column 10): it is empty: remove the comma"),
        ("0x8@25*1", f"the width must be from 1 to {MAX_SIDE}, not 0"),
        ("8x99999@25*1", f"the height must be from 1 to {MAX_SIDE}, not 99999"),
        ("16384x16384@25*1", "16384x16384 is more than the"),
        ("8x8@0*1", "the frame rate must be above 0"),
        ("8x8@1000000*1", "the frame rate must be above 0 and at most"),
        ("8x8@1/0*1", "the frame rate 1/0 divides by zero"),
        ("8x8@25*0", "the number of frames must be from 1"),
        ("8x8@25*99999999", "the number of frames must be from 1"),
        ("8x8:rgb@25*1", "the format 'rgb' is unknown: did you mean 'rgb24'?"),
        ("8x8@25*" + "9" * 5000, "is not a number of frames"),
        ("\N{ARABIC-INDIC DIGIT EIGHT}x8@25*1", "is not WIDTHxHEIGHT"),
    ],
)
def test_wrong_text_is_quoted_and_mended_in_one_line(text: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        Workload.parse(text)
    message = str(caught.value)
    assert expected in message
    assert "\n" not in message
    assert len(message) < 400


def test_a_line_break_in_the_text_stays_out_of_the_message() -> None:
    with pytest.raises(UsageError) as caught:
        Workload.parse("8x8@25*1,8x8\n@a*3")
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="0123456789x@*,:./rgb -X\n", max_size=40))
def test_no_text_gives_anything_but_a_workload_or_a_usage_error(text: str) -> None:
    with suppress(UsageError):
        workload = Workload.parse(text)
        assert Workload.parse(str(workload)) == workload


def test_a_workload_has_a_segment_and_a_bounded_number_of_frames() -> None:
    with pytest.raises(UsageError, match="needs a segment"):
        Workload(())
    half = Segment(8, 8, Fraction(25), MAX_FRAMES // 2 + 1)
    with pytest.raises(UsageError, match="at most"):
        Workload((half, half))


def test_segments_are_spread_over_their_frames_in_order() -> None:
    workload = Workload.parse("8x8@25*2,9x9:gray8@25*1")
    assert list(workload.segment_of_each_frame()) == [
        workload.segments[0],
        workload.segments[0],
        workload.segments[1],
    ]


def test_a_default_format_fills_only_the_gaps() -> None:
    workload = Workload.parse("8x8@25*2,9x9:gray8@25*1").with_format("bgr24")
    assert str(workload) == "8x8:bgr24@25*2,9x9:gray8@25*1"


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_found_by_name_and_has_steady_steps(name: str) -> None:
    workload = Workload.named_or_parsed(f" {name} ")
    assert workload is SCENARIOS[name]
    phases = [step.phase for step in plan_steps(workload, 8, "rgb24")]
    assert phases.count("steady") > len(phases) // 3
    assert workload.frame_count <= 300


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sawtoth", "did you mean 'sawtooth'?"),
        ("Concat_Jump", "did you mean 'concat-jump'?"),
        ("ladder", "choose from constant, concat-jump, adaptive-ladder, "),
        ("qqq", "no scenario is called 'qqq': choose from constant, concat-jump, "),
    ],
)
def test_a_misspelt_name_gets_the_nearest_one(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        Workload.named_or_parsed(name)
    assert hint in str(caught.value)


def test_the_module_loads_nothing_heavy() -> None:
    code = (
        "import sys, harness.workload, harness.plan;"
        "print({'numpy', 'torch', 'av'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
