"""One frame's failure: said once, at its turn, clearly; and nothing else is touched."""

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from backend.errors import BackendClosedError, BackendError, FrameError
from backend.frame import Frame
from backend.reference import TorchBackend
from tests.backend.helpers import Moody, fail

PIXELS = np.zeros((8, 12, 3), np.uint8)
pytestmark = pytest.mark.usefixtures("no_gc")


BAD_FRAMES = {
    "format": (Frame(PIXELS, "yuv420p", pts=3), "12x8:yuv420p, pts=3: unsupported pixel format"),
    "zero width": (Frame(PIXELS[:, :0], pts=3), "0x8:rgb24, pts=3: width and height must be"),
    "negative": (Frame(PIXELS, height=-1, pts=3), "12x-1:rgb24, pts=3: width and height must be"),
    "dtype": (Frame(PIXELS * 1.5, pts=3), "pts=3: rgb24 data must be of type uint8, not float64"),
    "shape": (Frame(PIXELS, width=13, pts=3), r"pts=3: data must have the shape \(8, 13, 3\)"),
    "no array": (Frame([[1]], width=1, height=1, pts=3), "pts=3: data must be a numpy array"),
    "no size": (Frame(PIXELS, width=2.5, pts=3), "2.5x8:rgb24, pts=3: TypeError"),
    "unhashable": (Frame(PIXELS, [], pts=3), r"12x8:\[\], pts=3: TypeError"),
    "no frame": (None, r"\?x\?:\?, pts=\?: AttributeError"),
}


@pytest.mark.parametrize(("bad", "message"), BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
def test_a_frame_that_cannot_be_taken(bad, message, options, make_frame, collect):
    with TorchBackend("identity", **options) as backend:
        for _ in range(3):
            backend.execute(make_frame(pts=1))
            backend.execute(bad)
            backend.execute(make_frame(pts=4))
            first, error, last = collect(backend, 3)
            assert (first.pts, last.pts) == (1, 4)
            assert isinstance(error, FrameError)
            with pytest.raises(FrameError, match=message):
                raise error
            assert error.where is None


ACTS = {
    "raises": (lambda _: fail(KeyError("lost")), "KeyError: 'lost'"),
    "raises without text": (lambda _: fail(ZeroDivisionError()), "ZeroDivisionError"),
    "tuple": (lambda x: (x, x), "must return a tensor, not tuple"),
    "none": (lambda _: None, "must return a tensor, not NoneType"),
    "rank": (lambda x: x[0], r"must have the shape \(1, C, H, W\), not \(3, 8, 5\)"),
    "batch": (lambda x: x.expand(2, 3, 8, 5), r"not \(2, 3, 8, 5\)"),
    "int": (lambda x: x.int(), "floating type, not torch.int32"),
    "bool": (lambda x: x > 0, "floating type, not torch.bool"),
    "complex": (lambda x: x + 1j, "floating type, not torch.complex64"),
    "channels": (lambda x: x[:, :2], "2 channels from rgb24"),
    "empty": (lambda x: x[:, :, :0], "output is empty"),
    "memory": (lambda _: fail(MemoryError("enough")), "MemoryError: enough"),
    "stop": (lambda _: fail(StopIteration()), "StopIteration"),
    "torch": (lambda x: x.reshape(7), "RuntimeError: shape '.7.' is invalid"),
}


@pytest.mark.parametrize(("act", "message"), ACTS.values(), ids=ACTS.keys())
def test_a_model_that_fails(act, message, options, make_frame, collect):
    with TorchBackend(Moody(act), **options) as backend:
        for _ in range(3):
            for pts, width in enumerate([12, 5, 12, 5, 5]):
                backend.execute(make_frame(width, pts=pts))
            results = collect(backend, 5)
            assert [isinstance(result, FrameError) for result in results] == [0, 1, 0, 1, 1]
            with pytest.raises(FrameError, match=f"frame 5x8:rgb24, pts=3: .*{message}"):
                raise results[3]
            np.testing.assert_array_equal(results[2].data, make_frame(12, pts=2).data)
            results.clear()
        assert backend.stats().frames_failed == 9
        assert backend.stats().in_flight == 0


def test_the_place_in_the_models_own_code_is_named(options, make_frame, collect):
    class Wrong(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Conv2d(4, 1, 1)

        def forward(self, x):
            return self.layer(x)

    line = Wrong.forward.__code__.co_firstlineno + 1
    with TorchBackend(Wrong(), **options) as backend:
        backend.execute(make_frame(pts=8))
        (error,) = collect(backend, 1)
    assert error.where == f"{__file__}:{line} in forward"
    assert str(error).endswith(f"({error.where})")
    assert "12x8:rgb24, pts=8" in str(error)


@pytest.mark.parametrize(
    ("name", "format", "message"),
    [
        ("small", "gray8", "the model's first layer takes 3 channels, gray8 has 1"),
        ("espcn", "rgb24", "the model's first layer takes 1 channels, rgb24 has 3"),
    ],
)
def test_channels_that_the_model_cannot_take(name, format, message, options, make_frame, collect):
    with TorchBackend(name, **options) as backend:
        backend.execute(make_frame(format=format))
        backend.execute(make_frame(format="gray8" if format == "rgb24" else "rgb24"))
        error, result = collect(backend, 2)
        with pytest.raises(FrameError, match=message):
            raise error
        assert isinstance(result, Frame)


def test_a_model_that_rearranges_channels_before_its_first_layer_works(make_frame):
    module = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(12, 12, 1), nn.PixelShuffle(2))
    with TorchBackend(module) as backend:
        backend.execute(make_frame())
        assert backend.get_result().data.shape == (8, 12, 3)


class Interrupting(nn.Module):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def forward(self, x):
        if x.shape[3] == 5:
            raise self.error
        return x


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit(3), GeneratorExit])
def test_an_interrupt_in_sync_mode_goes_up_and_the_backend_goes_on(error, make_frame, collect):
    with TorchBackend(Interrupting(error)) as backend:
        for _ in range(3):
            with pytest.raises(error if isinstance(error, type) else type(error)):
                backend.execute(make_frame(5))
            backend.execute(make_frame(12))
            failed, good = collect(backend, 2)
            assert isinstance(failed, FrameError)
            assert good.width == 12


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit(3), GeneratorExit])
def test_an_interrupt_raised_on_the_worker_is_that_frames_failure(error, make_frame, collect):
    with TorchBackend(Interrupting(error), mode="async", nireq=2) as backend:
        for width in (5, 12, 5, 12):
            backend.execute(make_frame(width))
        results = collect(backend, 4)
        assert [isinstance(result, FrameError) for result in results] == [1, 0, 1, 0]


def test_an_exception_whose_text_fails_is_still_that_frames_failure(options, make_frame, collect):
    class SilentError(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    with TorchBackend(Moody(lambda _: fail(SilentError())), **options) as backend:
        backend.execute(make_frame(5))
        (error,) = collect(backend, 1)
    assert error.cause == "SilentError: (its text can't be shown)"


def test_a_long_text_is_cut(make_frame, collect):
    with TorchBackend(Moody(lambda _: fail(ValueError("x" * 10**6)))) as backend:
        backend.execute(make_frame(5))
        (error,) = collect(backend, 1)
    assert len(str(error)) < 1500


def test_execute_after_close_says_so(options, make_frame):
    backend = TorchBackend("small", **options)
    backend.close()
    with pytest.raises(BackendClosedError, match="closed"):
        backend.execute(make_frame())
    assert backend.get_result() is None
    backend.flush()


def test_errors_are_one_family_and_survive_pickling():
    assert issubclass(BackendClosedError, BackendError)
    assert issubclass(FrameError, BackendError)
    error = FrameError("1x1:gray8, pts=0", "cause", "file:1 in f")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) == "frame 1x1:gray8, pts=0: cause (file:1 in f)"
    assert (again.frame, again.cause, again.where) == (error.frame, error.cause, error.where)


def test_torch_is_left_as_it_was(options, make_frame, collect):
    with TorchBackend(Moody(lambda _: fail(OSError())), **options) as backend:
        backend.execute(make_frame(5))
        collect(backend, 1)
        assert torch.is_grad_enabled()
        assert not torch.is_inference_mode_enabled()
