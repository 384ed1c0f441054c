"""Filter graphs of libavfilter: pixels, changes of size, what comes late, and teardown."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backend.errors import BackendClosedError, FrameError
from backend.frame import PIXEL_FORMATS, Frame
from backend.libavfilter import FilterGraphBackend, open_graph

RANDOM = np.random.default_rng(7)


def make(width: int, height: int, format: str = "rgb24", pts: int = 0) -> Frame:
    shape = PIXEL_FORMATS[format].shape(width, height)
    samples = RANDOM.integers(0, 256, shape)
    return Frame(samples.astype(PIXEL_FORMATS[format].dtype), format, pts=pts)


GRAPHS: dict[str, Callable[[Any], Any]] = {
    "null": lambda data: data,
    "hflip": lambda data: data[:, ::-1],
    "vflip,hflip": lambda data: data[::-1, ::-1],
    "[in]vflip@mine[out]": lambda data: data[::-1],
    "split[a][b];[a]hflip[c];[b][c]hstack": lambda data: np.concatenate([data, data[:, ::-1]], 1),
}


@pytest.mark.parametrize("format", PIXEL_FORMATS)
@pytest.mark.parametrize("graph", GRAPHS)
def test_pixels_are_those_of_numpy_at_any_size(graph: str, format: str) -> None:
    backend = FilterGraphBackend(graph)
    for pts, (width, height) in enumerate([(17, 5), (64, 48), (3, 9), (17, 5)]):
        frame = make(width, height, format, pts)
        backend.execute(frame)
        result = backend.get_result()
        assert result is not None
        assert np.array_equal(result.data, GRAPHS[graph](frame.data))
        assert (result.pts, result.height) == (pts, height)
        assert backend.get_result() is None
    backend.close()


@pytest.mark.parametrize("on_change", ["rebuild", "pass"])
def test_change_of_size_reaches_a_filter_that_scales(on_change: Any) -> None:
    backend = open_graph("scale=8:6", on_change)
    for width in (16, 32, 16):
        backend.execute(make(width, width))
        result = backend.get_result()
        assert result is not None
        assert (result.width, result.height) == (8, 6)


def test_caller_may_change_a_frame_that_a_filter_keeps() -> None:
    backend = FilterGraphBackend("tblend=all_mode=average")  # of this frame and the one before
    first, second = make(16, 16, pts=0), make(16, 16, pts=1)
    expected = (first.data.astype(int) + second.data) // 2
    backend.execute(first)
    first.data[:] = 0
    backend.execute(second)
    second.data[:] = 0
    (*_, last) = iter(backend.get_result, None)
    assert np.abs(last.data.astype(int) - expected).max() <= 1


def test_flush_gives_what_the_graph_holds_back_and_more_frames_may_follow() -> None:
    backend = FilterGraphBackend("reverse")
    for _ in range(2):
        frames = [make(8, 8, pts=pts) for pts in range(3)]
        for frame in frames:
            backend.execute(frame)
        assert backend.get_result() is None
        backend.flush()
        results = list(iter(backend.get_result, None))
        assert len(results) == 3
        for result, frame in zip(results, reversed(frames), strict=True):
            assert np.array_equal(result.data, frame.data)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("nofilter", "no filter 'nofilter'"),
        ("hflip,", "lacks a filter"),
    ],
)
def test_text_that_is_no_graph_is_refused_at_once(graph: str, words: str) -> None:
    for refuse in (open_graph, open_graph.check):
        with pytest.raises(ValueError, match=words):
            refuse(graph)


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        ("hflip;vflip", "one open input, not 2"),
        ("split[a][b]", "one open output, not 2"),
        ("scale=0x:1", r"takes no such graph for frames of 8x8:rgb24 \(Invalid argument\)"),
        ("overlay", "one input and one output for video"),
        ("volume=2", "no audio"),
        ("crop=64:64", "that each filter's values fit them"),
    ],
)
def test_graph_that_does_not_fit_the_frame_fails_at_the_frames_turn(graph: str, words: str) -> None:
    backend = FilterGraphBackend(graph)
    backend.execute(make(8, 8))
    with pytest.raises(FrameError, match=words):
        backend.get_result()
    assert backend.get_result() is None
    backend.close()


def test_bad_frame_costs_no_good_one() -> None:
    backend = FilterGraphBackend("hflip")
    good = make(8, 8, pts=1)
    backend.execute(Frame(np.zeros((8, 8, 3)), pts=0))
    backend.execute(good)
    with pytest.raises(FrameError, match="uint8"):
        backend.get_result()
    result = backend.get_result()
    assert result is not None
    assert np.array_equal(result.data, good.data[:, ::-1])


def test_close_drops_graph_frames_and_results_by_reference_count() -> None:
    backend = FilterGraphBackend("split[a][b];[a]reverse[c];[b][c]hstack")
    backend.execute(make(8, 8))
    backend.execute(make(16, 8))
    gone = weakref.ref(backend)
    gc.disable()
    try:
        backend.close()
        backend.close()
        with pytest.raises(BackendClosedError):
            backend.execute(make(8, 8))
        assert backend.get_result() is None
        del backend
        assert gone() is None
    finally:
        gc.enable()


def test_unknown_way_to_change_is_refused() -> None:
    with pytest.raises(ValueError, match="on_change must be rebuild or pass"):
        open_graph("null", "reinit")  # type: ignore[arg-type]
