"""The backend at work: results, order, options."""

import inspect

import numpy as np
import pytest
import torch
from torch import nn

from backend import reference
from backend.model import load_module
from backend.protocol import Backend
from backend.reference import TorchBackend
from tests.backend.helpers import JUMPS, MODES, drain, ids

FACTORIES = [
    reference.open_small,
    reference.open_espcn,
    reference.open_srcnn,
    reference.open_dncnn,
    reference.open_identity,
    reference.open_delay,
]


@pytest.mark.parametrize("options", MODES, ids=ids)
@pytest.mark.parametrize(
    ("factory", "pixels"),
    [(factory, pixels) for factory in FACTORIES for pixels in factory.formats],
    ids=lambda value: value if isinstance(value, str) else value.model,
)
def test_results_equal_a_plain_computation_bit_for_bit_under_resolution_jumps(
    factory, pixels, options, make_frame, plain
):
    frames = [
        make_frame(*size, pixels, pts=3 * n + i) for n, size in enumerate(JUMPS) for i in (0, 1, 2)
    ]
    module = load_module(factory.model, torch.device("cpu"))
    with factory(**options) as backend:
        for start in range(0, len(frames), 7):  # bursts that straddle the jumps
            burst = frames[start : start + 7]
            for frame in burst:
                backend.execute(frame)
            backend.flush()
            results = drain(backend)
            assert [result.pts for result in results] == [frame.pts for frame in burst]
            for frame, result in zip(burst, results, strict=True):
                expected = plain(module, frame)
                np.testing.assert_array_equal(result.data, expected)
                assert result.data.dtype == expected.dtype
                assert (result.height, result.width) == expected.shape[:2]
                assert result.format == pixels
            results.clear()
            del result


@pytest.mark.parametrize("options", MODES[:3], ids=ids)
@pytest.mark.parametrize(
    "arrange",
    [
        lambda data: data[::-1, ::-1],
        lambda data: np.asfortranarray(data),
        lambda data: np.broadcast_to(data[:1], data.shape),
        lambda data: np.pad(data, ((1, 2), (3, 4), (0, 0)))[1:-2, 3:-4],
        lambda data: (data.setflags(write=False), data)[1],
        lambda data: np.lib.stride_tricks.as_strided(data, strides=(0, 3, 1)),
    ],
    ids=["flipped", "fortran", "broadcast", "padded", "read-only", "overlapping"],
)
def test_frames_of_any_strides(arrange, options, make_frame):
    frame = make_frame(9, 7)
    frame.data = arrange(frame.data)
    with TorchBackend("identity", **options) as backend:
        backend.execute(frame)
        backend.flush()
        np.testing.assert_array_equal(backend.get_result().data, frame.data)


@pytest.mark.parametrize("options", MODES, ids=ids)
def test_a_frame_may_be_changed_as_soon_as_execute_returns(options, make_frame):
    frame = make_frame()
    with TorchBackend("identity", **options) as backend:
        for value in range(20):
            frame.data[:] = value
            backend.execute(frame)
        frame.data[:] = 255
        backend.flush()
        assert [int(result.data[0, 0, 0]) for result in drain(backend)] == list(range(20))


def test_formats_change_between_frames(make_frame):
    formats = ["rgb24", "gray8", "bgr24", "grayf32"] * 3
    with TorchBackend("identity", mode="async", nireq=2) as backend:
        frames = [make_frame(6, 5, name) for name in formats]
        for frame in frames:
            backend.execute(frame)
        backend.flush()
        for frame, result in zip(frames, drain(backend), strict=True):
            assert result.format == frame.format
            np.testing.assert_array_equal(result.data, frame.data)


@pytest.mark.parametrize(
    ("channels", "source", "expected"),
    [((3, 1), "bgr24", "gray8"), ((1, 3), "gray8", "rgb24")],
)
def test_models_that_change_the_number_of_channels(channels, source, expected, make_frame, plain):
    module = nn.Conv2d(*channels, 1)
    frame = make_frame(6, 5, source)
    with TorchBackend(module) as backend:
        backend.execute(frame)
        result = backend.get_result()
    assert result.format == expected
    np.testing.assert_array_equal(result.data, plain(module, frame))


def test_red_is_red_for_bgr_too(make_frame):
    class OnlyRed(nn.Module):
        def forward(self, x):
            return x * torch.tensor([1.0, 0, 0]).reshape(1, 3, 1, 1)

    frame = make_frame(4, 4, "bgr24")
    with TorchBackend(OnlyRed()) as backend:
        backend.execute(frame)
        result = backend.get_result().data
    np.testing.assert_array_equal(result[..., 2], frame.data[..., 2])
    assert not result[..., :2].any()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"nireq": 0}, "nireq must be a whole number of at least 1, not 0"),
        ({"nireq": -1, "mode": "async"}, "nireq must be"),
        ({"nireq": "4"}, "nireq must be a whole number of at least 1, not '4'"),
        ({"nireq": True}, "nireq must be"),
        ({"nireq": 1.5}, "nireq must be"),
        ({"threads": 0}, "threads must be"),
        ({"mode": "fast"}, "mode must be one of sync, async, not 'fast'"),
        ({"device": "abacus"}, "device must be cpu or cuda, not 'abacus'"),
        ({"device": "meta"}, "device must be cpu or cuda, not 'meta'"),
        ({"device": None}, "device must be cpu or cuda, not None"),
        ({"device": "cuda:99"}, "there is no device 'cuda:99' here"),
        ({"model": "nonsense"}, "neither a file nor one of the models"),
    ],
)
def test_a_bad_option_is_refused_with_its_name(options, problem):
    with pytest.raises(ValueError, match=problem):
        reference.open_reference(**options)


def test_factories_say_which_formats_they_take(make_frame):
    assert reference.open_reference.formats == ("rgb24", "bgr24")
    assert reference.open_espcn.formats == ("gray8", "grayf32")
    assert reference.open_delay.formats[0] == "rgb24"
    with reference.open_reference(model="espcn", mode="async", nireq=2) as backend:
        assert isinstance(backend, Backend)
        backend.execute(make_frame(format="gray8"))
        backend.flush()
        assert backend.get_result().width == 24


def test_modes_of_the_caller_make_no_difference(make_frame):
    """Buffers made in inference mode could not be written outside of it, and vice versa."""
    for options in MODES[:3]:
        with TorchBackend("delay", **options) as backend:
            for pts in range(8):
                with torch.inference_mode(pts % 4 < 2):
                    backend.execute(make_frame(8 + pts, pts=pts))
                    backend.flush()
                    assert backend.get_result().pts == pts


def test_what_must_be_held_is_said_of_shipped_models_that_torch_runs():
    steps = [[("gray8", 8, 4)], [("gray8", 8, 4)] * 3]
    weights = [64 * 25 * 4, 64 * 4, 32 * 64 * 9 * 4, 32 * 4, 4 * 32 * 9 * 4, 4 * 4]
    staging, given, result = 32, 128, 128
    scratch = 4 * result
    first, second = reference.open_espcn.expected_blocks(steps, nireq=2, mode="async")
    assert first == [*weights, staging, staging, given, given, scratch, result]
    assert second == [*first, result, result]
    for options in ({"executor": "auto"}, {"model": "mine.pt"}, {"model": nn.ReLU()}):
        assert reference.open_espcn.expected_blocks(steps, **options) is None
    assert reference.open_planned.expected_blocks(steps) is None


def test_a_factory_tells_the_options_that_it_takes():
    told = inspect.signature(reference.open_planned)
    assert [*told.parameters] == [*inspect.signature(TorchBackend).parameters]
    assert told.bind(nireq=2).arguments == {"nireq": 2}
    assert (told.parameters["model"].default, told.parameters["executor"].default) == (
        "espcn",
        "planned",
    )
