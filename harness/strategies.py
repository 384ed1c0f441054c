"""Hypothesis strategies for anyone's tests: resolutions, frame rates, segments, workloads.

    @given(workloads(max_frames=60, formats=["rgb24"]))
    def test_mine(workload):
        assert verify("mine.py:open_mine", workload, quick=True).verdict == "pass"

Real streams have patterns: a jump where two clips are joined, a ladder of sizes that a player goes
up and down, a rotated phone. A workload follows one of PATTERNS, and the statistics of Hypothesis
(`pytest --hypothesis-show-statistics`) tell how often each was drawn.

How it shrinks: to the fewest segments, then the smallest geometry, then the fewest frames, then
25 fps, whichever pattern the failing example had. For that, every pattern makes the same choices
in the same order as "unstructured" does, each pinned to one value by its bounds. When the shrinker
sets the pattern back to the first, all values stay, and each becomes free to shrink.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from random import Random

from backend.frame import PIXEL_FORMATS
from harness.errors import meant
from harness.patterns import SHAPES, Geometry, any_geometry, make
from harness.workload import MAX_FPS, MAX_FRAMES, MAX_PIXELS, MAX_SIDE, Segment, Workload

try:
    from hypothesis import event
    from hypothesis import strategies as st
except ImportError as error:
    raise ImportError(
        "harness.strategies needs Hypothesis: pip install 'steadyframe[properties]'"
    ) from error

__all__ = ["PATTERNS", "RATES", "frame_rates", "resolutions", "segments", "workloads"]

PATTERNS: tuple[str, ...] = tuple(SHAPES)
"""names that `workloads` takes"""
UNSTRUCTURED = "unstructured"
RATES: tuple[Fraction, ...] = tuple(
    map(
        Fraction,
        (
            *("25", "24", "30", "50", "60", "100", "120", "240", "1000"),
            *("23.976", "29.97", "59.94", "24000/1001", "30000/1001", "60000/1001"),
            *("1", "1/2", "25/3", "12.5", "1001/24", "120000/1001", "99999/1000"),
        ),
    )
)
"""frames per second: those in use, the exact ones of film and NTSC, and fractions of no standard"""
MAX_SEGMENTS = 10

_FREE = ""
"""the pattern of an example whose choices are all free"""
_SEEDS = st.integers(0, 2**32 - 1)


def frame_rates() -> st.SearchStrategy[Fraction]:
    """Frames per second: 25 first, then those in use, then any fraction a workload may have."""
    odd = st.fractions(min_value=Fraction(1, 100), max_value=MAX_FPS, max_denominator=10_000)
    return st.sampled_from(RATES) | odd


@st.composite
def resolutions(draw: st.DrawFn, *, max_pixels: int = 2**20) -> Geometry:
    """(width, height) in pixels, of `max_pixels` at most; shrinks to 1x1.

    Half of them are where backends go wrong: odd and extreme shapes, sizes of video, next to
    powers of two, next to whole pages, and equal areas of another shape.
    """
    _check(1, max_pixels, (None,))
    special, seed = draw(st.booleans()), draw(_SEEDS)
    pinned = any_geometry(_random(seed), max_pixels) if special else None
    upright = draw(_whole(int(pinned[0] < pinned[1]) if pinned else None, 0, 1))
    return _geometry(draw, pinned, max_pixels, upright=bool(upright))


@st.composite
def segments(
    draw: st.DrawFn,
    *,
    max_frames: int = 60,
    max_pixels: int = 2**14,
    formats: Sequence[str | None] = (None,),
) -> Segment:
    """One segment; arguments as for `workloads`."""
    _check(max_frames, max_pixels, formats)
    width, height = draw(resolutions(max_pixels=max_pixels))
    frames = draw(st.integers(1, max_frames))
    pixel_format = draw(st.sampled_from(formats))
    return Segment(width, height, draw(frame_rates()), frames, pixel_format)


@st.composite
def workloads(
    draw: st.DrawFn,
    *,
    max_frames: int = 60,
    max_pixels: int = 2**14,
    formats: Sequence[str | None] = (None,),
    patterns: Iterable[str] = PATTERNS,
) -> Workload:
    """A workload of at most `max_frames` frames and MAX_SEGMENTS segments.

    `max_pixels` bounds width x height of each frame. `formats` are drawn from per segment; None is
    the backend's natural format. `patterns` are names of PATTERNS: without "unstructured" among
    them, what fails can't be shrunk beyond what the others can make. Raises ValueError for
    arguments that allow no workload.
    """
    _check(max_frames, max_pixels, formats)
    name, seed = draw(st.sampled_from(_names(patterns))), draw(_SEEDS)
    event(f"pattern: {name or UNSTRUCTURED}")
    plan: list[Segment] = []
    if name != _FREE:
        plan = make(name, _random(seed), max_frames, max_pixels, formats, RATES)
    found: list[Segment] = []
    left = max_frames
    while True:
        pinned = plan[len(found)] if len(found) < len(plan) else None
        style = draw(_style(pinned, formats, bool(found), bool(plan), left))
        if style == 0:
            return Workload(tuple(found))
        geometry = (pinned.width, pinned.height) if pinned else None
        pixel_format, upright = divmod((style - 1) % (2 * len(formats)), 2)
        width, height = _geometry(draw, geometry, max_pixels, upright=bool(upright))
        frames = draw(_whole(pinned.frames if pinned else None, 1, left))
        rate = draw(_whole(RATES.index(pinned.fps) if pinned else None, 0, len(RATES) - 1))
        found.append(Segment(width, height, RATES[rate], frames, formats[pixel_format]))
        left = max_frames - sum(segment.frames for segment in found)
        if len(found) == MAX_SEGMENTS:
            left = 0


def _style(
    pinned: Segment | None, formats: Sequence[str | None], may_end: bool, planned: bool, left: int
) -> st.SearchStrategy[int]:
    """0 to end here, else another segment: which number says its format, and if it is upright.

    One choice for all, so that a segment is five choices: as many as the shrinker cuts out in one
    go. It is made even where there is no room for another segment, or else a workload that has used
    up its frames would have a choice less, and count as simpler.
    """
    if pinned is not None:
        return _whole(1 + 2 * formats.index(pinned.format) + (pinned.width < pinned.height), 0, 0)
    if planned or not left:
        return _whole(0, 0, 0)
    # One in some five ends here.
    return st.integers(0 if may_end else 1, 2 * len(formats) * max(1, 2 // len(formats)))


def _geometry(
    draw: st.DrawFn, pinned: Geometry | None, max_pixels: int, *, upright: bool
) -> Geometry:
    """Two choices: a number of pixels, then the short side; the long one is what fits into it.

    Not width and height: then no single step would lead from 20x51 to the smaller 1001x1. And not
    the width: then none would lead from a rotation to the rotation of something smaller.
    """
    most = min(max_pixels, MAX_PIXELS)
    area = draw(_whole(pinned[0] * pinned[1] if pinned else None, 1, most))
    shortest = -(-area // MAX_SIDE)
    short = draw(_whole(min(pinned) if pinned else None, shortest, math.isqrt(area)))
    long = area // short
    return (short, long) if upright else (long, short)


def _whole(pinned: int | None, least: int, most: int) -> st.SearchStrategy[int]:
    """A choice from `least` to `most`, or of the one value that is pinned: see above."""
    return st.integers(least, most) if pinned is None else st.integers(pinned, pinned)


def _random(seed: int) -> Random:
    """What a pattern draws from: it must depend on nothing but the choice that was recorded."""
    return Random(seed)  # noqa: S311 - no secret


def _check(max_frames: int, max_pixels: int, formats: Sequence[str | None]) -> None:
    named = {"max_frames": max_frames, "max_pixels": max_pixels, "formats": len(formats)}
    for name, value in named.items():
        if value < 1:
            raise ValueError(f"{name} must leave room for at least one, not {value}")
    if max_frames > MAX_FRAMES:
        raise ValueError(f"max_frames is at most {MAX_FRAMES}, not {max_frames}")
    for pixel_format in formats:
        if pixel_format is not None and pixel_format not in PIXEL_FORMATS:
            hint = meant(pixel_format, PIXEL_FORMATS)
            raise ValueError(f"the format {pixel_format!r} is unknown: {hint}")


def _names(patterns: Iterable[str]) -> list[str]:
    """What to draw a pattern from: unstructured is made freely too, and first, to shrink well."""
    wanted = list(patterns)
    unknown = [name for name in wanted if name not in PATTERNS]
    if unknown or not wanted:
        raise ValueError(
            f"patterns must be names out of {', '.join(PATTERNS)}, not {unknown or 'none'}"
        )
    free = [_FREE] if UNSTRUCTURED in wanted else []
    return free + [name for name in PATTERNS if name in wanted]
