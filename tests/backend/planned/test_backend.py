"""The backend with a planned model: results, errors, statistics and teardown as ever."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from backend import reference
from backend.errors import BackendClosedError, FrameError
from backend.model import load_module
from backend.planned.layers import UnsupportedLayerError
from backend.reference import TorchBackend

CPU = torch.device("cpu")
JUMPS = [(16, 12), (64, 48), (4, 4), (36, 72), (64, 48), (16, 12)]
LUMA = ["espcn", "srcnn", "dncnn", "unet"]


def differences(result, wanted):
    """Rounding may fall to the other side where the model's output lies between two levels."""
    return np.abs(result.data.astype(np.int16) - wanted.astype(np.int16)).max()


@pytest.mark.parametrize("name", LUMA)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_those_of_the_model(name, threads, options, make_frame, plain, collect):
    module = load_module(name, CPU)
    frames = [make_frame(*size, "gray8", pts) for pts, size in enumerate(JUMPS)]
    with TorchBackend(name, executor="planned", threads=threads, **options) as backend:
        for frame in frames:
            backend.execute(frame)
        backend.flush()
        results = collect(backend, len(frames))
    for frame, result in zip(frames, results, strict=True):
        assert result.pts == frame.pts
        assert differences(result, plain(module, frame)) <= 1


def test_float_and_colour_formats(make_frame, plain, collect):
    for name, pixels in (("dncnn", "grayf32"), ("small", "rgb24"), ("small", "bgr24")):
        frame = make_frame(20, 12, pixels)
        with TorchBackend(name, executor="planned") as backend:
            backend.execute(frame)
            (result,) = collect(backend, 1)
        wanted = plain(load_module(name, CPU), frame)
        if pixels == "grayf32":
            assert np.allclose(result.data, wanted, atol=1e-5)
        else:
            assert differences(result, wanted) <= 1


def test_a_frame_that_does_not_fit_fails_alone(options, make_frame, collect):
    with TorchBackend("unet", executor="planned", **options) as backend:
        for pts, size in enumerate([(16, 16), (17, 16), (16, 16)]):
            backend.execute(make_frame(*size, "gray8", pts))
        backend.execute(make_frame(16, 16, "rgb24", 3))
        backend.flush()
        first, odd, second, colour = collect(backend, 4)
    assert (first.pts, second.pts) == (0, 2)
    assert isinstance(odd, FrameError)
    assert "layer 'cat' (cat) can't join shapes" in str(odd)
    assert isinstance(colour, FrameError)
    assert "the model's first layer takes 1 channels, rgb24 has 3" in str(colour)


def test_a_model_that_makes_no_picture_is_told_as_by_torch(make_frame, collect):
    flat = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1, 4))
    with TorchBackend(flat, executor="planned") as backend:
        backend.execute(make_frame(8, 8, "gray8"))
        (error,) = collect(backend, 1)
    assert "must have the shape (1, C, H, W), not (1, 4)" in str(error)


def test_statistics_tell_the_arena_and_no_input_of_the_requests(make_frame):
    with TorchBackend("espcn", executor="planned", mode="async", nireq=3) as backend:
        assert backend.stats().arena_bytes == 0
        backend.execute(make_frame(32, 32, "gray8"))
        backend.flush()
        first = backend.stats()
        assert first.arena_bytes > 32 * 32 * 4
        assert first.input_bytes == (0, 0, 0)
        assert first.scratch_bytes == 0
        backend.execute(make_frame(16, 64, "gray8"))
        backend.flush()
        assert backend.stats().arena_bytes == first.arena_bytes
        backend.execute(make_frame(640, 320, "gray8"))
        backend.flush()
        assert backend.stats().arena_bytes > first.arena_bytes


@pytest.mark.parametrize("threads", [1, 2])
def test_close_gives_everything_back_without_the_collector(options, threads, make_frame):
    gc.collect()
    gc.disable()
    try:
        module = load_module("dncnn", CPU).train()
        backend = TorchBackend(module, executor="planned", threads=threads, **options)
        for pts in range(5):
            backend.execute(make_frame(32, 24, "gray8", pts))
        planned = weakref.ref(backend._inference.planned.plan(1, 24, 32)[0].input.tensor)
        backend.close()
        backend.close()
        assert planned() is None
        assert backend.stats().arena_bytes == 0
        assert module.training
        assert not [one for one in threading.enumerate() if one.name == "steadyframe-lane"]
        with pytest.raises(BackendClosedError):
            backend.execute(make_frame(32, 24, "gray8"))
        gone = weakref.ref(module)
        del module, backend
        assert gone() is None
    finally:
        gc.enable()


def test_a_model_that_cannot_be_planned_is_refused_and_given_back():
    module = nn.Sequential(nn.Conv2d(1, 1, 1), nn.GELU()).train()
    with pytest.raises(UnsupportedLayerError, match=r"can't run layer '1' \(GELU\)"):
        TorchBackend(module, executor="planned")
    assert module.training


def test_auto_runs_by_plan_what_can_be_and_the_rest_as_ever(make_frame, plain, collect):
    for module, planned in ((nn.Sequential(nn.ReLU()), True), (nn.Sequential(nn.GELU()), False)):
        frame = make_frame(8, 8, "gray8")
        with TorchBackend(module, executor="auto") as backend:
            assert (backend._inference.planned is not None) is planned
            backend.execute(frame)
            (result,) = collect(backend, 1)
        assert differences(result, plain(module, frame)) <= 1


def test_an_unknown_executor_lists_those_there_are():
    with pytest.raises(ValueError, match=r"executor must be one of torch, planned, auto, not 'x'"):
        TorchBackend("small", executor="x")


def test_the_factory_takes_the_options_of_the_backend():
    with reference.open_planned(model="dncnn", mode="async", nireq=2) as backend:
        assert backend.nireq == 2
        assert backend._inference.planned is not None
