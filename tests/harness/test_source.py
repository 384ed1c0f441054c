"""Frame sources: fresh copies, content that moves, memory within bounds."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import harness.source
from backend.frame import PIXEL_FORMATS
from harness.source import FrameSource, synthetic_source, video_source
from harness.video import DecodedVideo
from harness.workload import Workload


def test_each_call_gives_a_fresh_copy() -> None:
    source = synthetic_source(Workload.parse("32x16@25*3"), "rgb24", seed=0)
    first, again = source.frame(1), source.frame(1)
    assert first.pts == 1
    assert first.data.flags.owndata
    assert first.data.flags.c_contiguous
    np.testing.assert_array_equal(first.data, again.data)
    np.asarray(first.data)[:] = 0
    np.testing.assert_array_equal(source.frame(1).data, again.data)
    assert not np.shares_memory(first.data, again.data)


def test_there_is_no_frame_past_the_end() -> None:
    source = synthetic_source(Workload.parse("8x8@25*3"), "rgb24", seed=0)
    assert len(source) == 3
    with pytest.raises(IndexError):
        source.frame(3)


@pytest.mark.parametrize("name", PIXEL_FORMATS)
@pytest.mark.parametrize("size", ["1x1", "1x64", "64x1", "16384x2", "3x4096", "33x17"])
def test_every_size_and_format_is_textured_and_moves(name: str, size: str) -> None:
    source = synthetic_source(Workload.parse(f"{size}@25*6"), name, seed=3)
    pixel_format = PIXEL_FORMATS[name]
    width, height = map(int, size.split("x"))
    frames = [source.frame(number) for number in range(6)]
    for frame in frames:
        assert (frame.width, frame.height, frame.format) == (width, height, name)
        assert frame.data.shape == pixel_format.shape(width, height)
        assert frame.data.dtype == pixel_format.dtype
        if width * height > 64:
            assert frame.data.std() > 0.1 * (1 if name == "grayf32" else 255)
    if name == "grayf32":
        assert 0 <= min(f.data.min() for f in frames) <= max(f.data.max() for f in frames) <= 1
    seen = {frame.data.tobytes() for frame in frames}
    assert len(seen) == 6


def test_close_frames_of_one_geometry_differ_even_across_segments() -> None:
    source = synthetic_source(Workload.parse("1x1@25*150,2x2@25*5,1x1@25*106"), "gray8", seed=1)
    small = [source.frame(n).data for n in range(len(source)) if source.frame(n).width == 1]
    assert len({pixels.tobytes() for pixels in small}) == 256


def test_the_content_follows_the_seed_and_the_geometry_alone() -> None:
    alone = synthetic_source(Workload.parse("16x8@25*2"), "rgb24", seed=7)
    within = synthetic_source(Workload.parse("9x9@100*5,16x8@30*2"), "rgb24", seed=7)
    other = synthetic_source(Workload.parse("16x8@25*2"), "rgb24", seed=8)
    np.testing.assert_array_equal(alone.frame(1).data, within.frame(6).data)
    assert (alone.frame(1).data != other.frame(1).data).any()


def test_beyond_the_pool_each_geometry_repeats_a_ring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness.source, "POOL_BYTES", 60 * 64)
    text = "8x8@25*100,8x8:grayf32@25*25,16x16@25*1,4x4@25*30"
    workload = Workload.parse(text).with_format("gray8")
    source = synthetic_source(workload, "gray8", seed=0)
    frames = [source.frame(number) for number in range(len(source))]
    distinct: dict[tuple[int, str], list[bytes]] = {}
    for frame in frames:
        seen = distinct.setdefault((frame.width, frame.format), [])
        assert not seen or seen[-1] != frame.data.tobytes()
        seen.append(frame.data.tobytes())
    sizes = {key: len(set(seen)) for key, seen in distinct.items()}
    # 13,696 bytes in all, so each count shrinks to 0.28 of itself, but to two at the least.
    assert sizes == {(8, "gray8"): 28, (8, "grayf32"): 7, (16, "gray8"): 1, (4, "gray8"): 8}
    ring = distinct[8, "gray8"]
    assert ring[28:56] == ring[:28]


def test_a_ring_has_two_frames_even_if_not_one_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness.source, "POOL_BYTES", 10)
    source = synthetic_source(Workload.parse("8x8@25*4"), "gray8", seed=0)
    contents = [source.frame(number).data.tobytes() for number in range(4)]
    assert contents[0] == contents[2] != contents[1] == contents[3]


def test_8k_frames_stay_near_the_pool() -> None:
    source = synthetic_source(Workload.parse("7680x4320:gray8@60*1000"), "rgb24", seed=0)
    assert len({id(pixels) for pixels, _ in source._prepared}) == 256 * 2**20 // (7680 * 4320)
    assert source.frame(999).data.shape == (4320, 7680)


def test_the_only_memory_that_a_frame_takes_is_its_copy() -> None:
    source = synthetic_source(Workload.parse("64x64@25*50"), "rgb24", seed=0)
    tracemalloc.start()
    try:
        for number in range(3):
            source.frame(number)
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for number in range(50):
            source.frame(number)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 200
    # At most one frame at a time: the copy, an array object, a Frame.
    assert peak - before < 64 * 64 * 3 + 1000


def test_a_frame_is_taken_for_what_its_source_file_allocates() -> None:
    source = synthetic_source(Workload.parse("64x64@25*50"), "rgb24", seed=0)
    tracemalloc.start()
    try:
        kept = [source.frame(number) for number in range(50)]
        snapshot = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    copies = snapshot.filter_traces([tracemalloc.Filter(True, harness.source.__file__)])
    pixels = [trace for trace in copies.traces if trace.size == 64 * 64 * 3]
    assert len(pixels) == len(kept)
    assert {trace.traceback[0].lineno for trace in pixels} == {
        harness.source._fresh_copy.__code__.co_firstlineno + 2
    }


def test_a_video_is_played_in_its_own_format() -> None:
    pixels = (np.zeros((2, 3), np.uint8), np.ones((4, 5), np.uint8))
    workload = Workload.parse("3x2:gray8@25*1,5x4:gray8@25*1")
    source = video_source(DecodedVideo(pixels, "gray8", workload, ()))
    assert isinstance(source, FrameSource)
    frame = source.frame(1)
    assert (frame.width, frame.height, frame.format, frame.pts) == (5, 4, "gray8", 1)
    assert not np.shares_memory(frame.data, pixels[1])
    assert workload.segments[0].fps == Fraction(25)
