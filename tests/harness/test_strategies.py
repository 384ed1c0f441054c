"""Strategies: what they draw, that it prints as text, and where shrinking ends."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from harness import strategies
from harness.patterns import SHAPES, any_geometry, make
from harness.strategies import (
    MAX_SEGMENTS,
    PATTERNS,
    RATES,
    frame_rates,
    resolutions,
    segments,
    workloads,
)
from harness.workload import MAX_FPS, MAX_FRAMES, MAX_PIXELS, MAX_SIDE, Segment, Workload

FORMATS = ("rgb24", "gray8")
patterned = st.sampled_from([name for name in PATTERNS if name != "unstructured"])


def area(segment: Segment) -> int:
    return segment.width * segment.height


def size(segment: Segment) -> tuple[int, int]:
    return segment.width, segment.height


@given(workloads(formats=(*FORMATS, None)))
def test_every_workload_prints_as_text_that_parses_back(workload: Workload) -> None:
    assert Workload.parse(str(workload)) == workload


@given(st.data(), st.integers(1, 200), st.integers(1, 2**20), st.sampled_from(PATTERNS))
def test_a_workload_keeps_within_its_bounds(
    data: st.DataObject, max_frames: int, max_pixels: int, pattern: str
) -> None:
    workload = data.draw(
        workloads(max_frames=max_frames, max_pixels=max_pixels, formats=FORMATS, patterns=[pattern])
    )
    assert workload.frame_count <= max_frames
    assert len(workload.segments) <= MAX_SEGMENTS
    assert all(area(segment) <= max_pixels for segment in workload.segments)
    assert all(segment.format in FORMATS for segment in workload.segments)


@given(resolutions(max_pixels=MAX_PIXELS))
def test_resolutions_reach_every_size_that_a_workload_may_have(geometry: tuple[int, int]) -> None:
    assert max(geometry) <= MAX_SIDE
    assert geometry[0] * geometry[1] <= MAX_PIXELS


@given(segments(max_frames=5, formats=FORMATS), frame_rates())
def test_a_segment_has_its_formats_and_a_rate_in_range(segment: Segment, rate: Fraction) -> None:
    assert segment.format in FORMATS
    assert segment.frames <= 5
    assert 0 < rate <= MAX_FPS


def test_rates_are_those_of_video() -> None:
    whole = {Fraction(rate) for rate in (24, 25, 30, 50, 60, 100, 120, 240, 1000)}
    assert whole | {Fraction(rate) for rate in ("23.976", "29.97", "59.94")} <= set(RATES)
    assert len(set(RATES)) == len(RATES)


@pytest.mark.parametrize(
    "special",
    [
        lambda w, h: (w, h) == (1, 1),
        lambda w, h: max(w, h) >= 100 * min(w, h),
        lambda w, h: (w, h) in [(640, 360), (1280, 720), (320, 240)],
        lambda w, h: w % 2 == h % 2 == 1 and min(w, h) > 1,
        lambda w, h: w - 1 in (64, 128, 256) and h > 8,
        lambda w, h: w + 1 in (64, 128, 256) and h > 8,
        lambda w, h: w * h > 4096 and w * h % 4096 == 1,
        lambda w, h: w * h > 4096 and w * h % 4096 == 4095,
    ],
)
def test_any_geometry_is_of_every_kind(special: Callable[[int, int], bool]) -> None:
    random = Random(0)
    assert any(special(*any_geometry(random, 2**20)) for _ in range(5000))


def test_every_pattern_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: Counter[str] = Counter()
    monkeypatch.setattr(strategies, "event", lambda text: drawn.update([text]))

    @settings(max_examples=500, database=None, derandomize=True)
    @given(workloads())
    def draw(workload: Workload) -> None:
        pass

    draw()
    assert set(drawn) == {f"pattern: {name}" for name in PATTERNS}
    assert min(drawn.values()) >= 5, drawn


def planned(name: str, seed: int) -> list[Segment]:
    return make(name, Random(seed), 60, 2**16, FORMATS, RATES)


@given(st.integers(0, 2**32 - 1))
def test_patterns_have_their_shapes(seed: int) -> None:
    shapes = {name: [size(s) for s in planned(name, seed)] for name in SHAPES}
    areas = {name: [w * h for w, h in found] for name, found in shapes.items()}
    assert len(set(shapes["constant"])) == 1
    assert areas["growth"] == sorted(areas["growth"])
    assert areas["shrink"] == sorted(areas["shrink"], reverse=True)
    assert all(one == other[::-1] for one, other in pairwise(shapes["rotation"]))
    assert shapes["oscillation"] == shapes["oscillation"][:2] * (len(shapes["oscillation"]) // 2)
    half = len(shapes["sawtooth"]) // 2
    assert shapes["sawtooth"][:half] == shapes["sawtooth"][half:]
    assert areas["sawtooth"][:half] == sorted(areas["sawtooth"][:half])
    assert areas["spike"][0] == areas["spike"][2] <= areas["spike"][1]
    assert planned("spike", seed)[1].frames == 1
    assert all(count % 2 == 0 for count in Counter(shapes["shuffle"]).values())
    rungs = sorted(set(areas["adaptive-ladder"]))
    steps = pairwise([rungs.index(one) for one in areas["adaptive-ladder"]])
    assert all(abs(after - before) <= 1 for before, after in steps)


def jumps(workload: Workload) -> int:
    return sum(size(one) != size(other) for one, other in pairwise(workload.segments))


SMALLEST: dict[str, Callable[[Workload], bool]] = {
    "1x1:rgb24@25*1": lambda w: w.frame_count > 0,
    "1x1:gray8@25*1": lambda w: w.segments[-1].format == "gray8",
    "1x1:rgb24@25*20": lambda w: w.frame_count >= 20,
    "1x1:rgb24@1000*9": lambda w: any(s.fps == 1000 and s.frames >= 9 for s in w.segments),
    "1001x1:rgb24@25*1": lambda w: any(area(s) > 1000 for s in w.segments),
    "1x1:rgb24@25*1,2x1:rgb24@25*1,1x1:rgb24@25*1": lambda w: any(
        area(a) < area(b) > area(c)
        for a, b, c in zip(w.segments, w.segments[1:], w.segments[2:], strict=False)
    ),
    "2x1:rgb24@25*1,1x2:rgb24@25*1": lambda w: any(
        size(a) == size(b)[::-1] != size(b) for a, b in pairwise(w.segments)
    ),
    "2x1:rgb24@25*1,1x1:rgb24@25*1,2x1:rgb24@25*1,1x1:rgb24@25*1": lambda w: jumps(w) >= 3,
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", SMALLEST)
def test_shrinking_ends_at_the_smallest_workload(text: str, seed: int) -> None:
    """Whichever pattern was found first: with each seed it is another one."""
    few = settings(max_examples=500, database=None)
    found = find(workloads(formats=FORMATS), SMALLEST[text], settings=few, random=Random(seed))
    assert str(found) == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_frames": 0}, "max_frames must leave room for at least one, not 0"),
        ({"max_pixels": -1}, "max_pixels must leave room"),
        ({"formats": ()}, "formats must leave room"),
        ({"patterns": ["waves"]}, "patterns must be names out of unstructured, .*not .'waves'."),
        ({"patterns": []}, "patterns must be names out of"),
    ],
)
def test_arguments_that_allow_no_workload_are_refused(
    arguments: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        find(workloads(**arguments), lambda _: True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_frames": MAX_FRAMES + 1}, "max_frames is at most 10000000, not 10000001"),
        ({"formats": ["yuv420p"]}, "the format 'yuv420p' is unknown: choose from rgb24"),
    ],
)
def test_what_no_workload_can_have_is_refused(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        find(workloads(**arguments), lambda _: True)  # type: ignore[arg-type]


def test_without_hypothesis_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['hypothesis'] = None; import harness.strategies"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last == (
        "ImportError: harness.strategies needs Hypothesis: pip install 'steadyframe[properties]'"
    )
