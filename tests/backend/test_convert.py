"""Conversion in both directions, and what is refused."""

import numpy as np
import pytest
import torch

from backend.convert import Converter, PackedPixels, PlanarTensor, check_frame, check_output
from backend.errors import UnusableError
from backend.frame import PIXEL_FORMATS, Frame

CPU = torch.device("cpu")
RGB, GRAY, GRAYF32 = (PIXEL_FORMATS[name] for name in ("rgb24", "gray8", "grayf32"))


def store(output, pixel_format=RGB):
    """The array that shows `output`, [1, C, H, W]."""
    _, channels, height, width = output.shape
    pixels, scratch = PackedPixels(), PlanarTensor(CPU)
    pixels.reserve(pixel_format.nbytes(width, height))
    pixels.shape_as(pixel_format, width, height)
    scratch.reserve(4 * channels * height * width)
    scratch.shape_as(channels, height, width)
    Converter(CPU).store(output, scratch, pixels)
    return pixels.new_array()


def gray(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype).reshape(1, 1, 1, -1)


def test_output_is_clipped_and_rounded_half_to_even():
    steps = np.array([-3, 0, 0.5, 1.5, 2.5, 254.5, 255, 256, 1e30])
    output = gray(*steps, dtype=torch.float64) / 255
    assert store(output, GRAY)[0].tolist() == [0, 0, 0, 2, 2, 254, 255, 255, 255]


def test_not_a_number_becomes_zero_and_infinity_is_clipped():
    output = gray(float("nan"), float("inf"), -float("inf"), 1)
    assert store(output, GRAY)[0].tolist() == [0, 255, 0, 255]


def test_grayf32_is_passed_as_it_is():
    output = gray(-1, 0.123, 7, float("inf"), float("nan"))
    np.testing.assert_array_equal(store(output, GRAYF32)[0], output.flatten().numpy())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_output_of_another_floating_type(dtype):
    output = torch.rand(1, 3, 4, 5).to(dtype)
    expected = (output.float() * 255).clamp(0, 255).round()[0].permute(1, 2, 0)
    np.testing.assert_array_equal(store(output), expected.numpy())


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.rand(1, 3, 5, 4).transpose(2, 3),
        lambda: torch.rand(1, 3, 8, 9)[:, :, 2:6, 3:8],
        lambda: torch.rand(1, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        lambda: torch.rand(1, 1, 4, 5).expand(1, 3, 4, 5),
        lambda: torch.rand(1, 3, 4, 5).flip(3),
    ],
    ids=["transposed", "cropped", "channels_last", "expanded", "flipped"],
)
def test_output_of_any_strides_is_shown_and_left_as_it_is(make):
    output = make()
    before = output.clone()
    expected = (output * 255).clamp(0, 255).round()[0].permute(1, 2, 0)
    np.testing.assert_array_equal(store(output), expected.numpy())
    assert torch.equal(output, before)


def test_views_are_made_again_only_when_the_geometry_changes():
    pixels, tensor = PackedPixels(), PlanarTensor(CPU)
    pixels.reserve(300)
    tensor.reserve(1200)
    assert pixels.shape_as(RGB, 4, 5)
    tensor.shape_as(3, 5, 4)
    planes, view = pixels.planes, tensor.tensor
    assert not pixels.shape_as(RGB, 4, 5)
    tensor.shape_as(3, 5, 4)
    assert pixels.planes is planes
    assert tensor.tensor is view
    assert pixels.shape_as(RGB, 5, 4)
    tensor.shape_as(3, 4, 5)
    assert pixels.planes is not planes
    assert tensor.tensor is not view


def test_growth_lets_go_of_the_old_memory_at_once():
    tensor = PlanarTensor(CPU)
    tensor.reserve(48)
    tensor.shape_as(3, 2, 2)
    old = torch.UntypedStorage._weak_ref(tensor.tensor.untyped_storage())
    tensor.reserve(1000)
    assert torch.UntypedStorage._expired(old)
    torch.UntypedStorage._free_weak_ref(old)


def test_a_frame_that_is_what_it_says_is_taken(make_frame):
    for name, pixel_format in PIXEL_FORMATS.items():
        assert check_frame(make_frame(5, 3, name)) == (pixel_format, 5, 3)


PIXELS = np.zeros((3, 5, 3), np.uint8)


@pytest.mark.parametrize(
    ("frame", "cause"),
    [
        (Frame(PIXELS, "yuv420p"), "unsupported pixel format 'yuv420p'; supported: rgb24, bgr24"),
        (Frame(PIXELS, width=0), "must be positive, not 0 and 3"),
        (Frame(PIXELS, height=-3), "must be positive, not 5 and -3"),
        (Frame(PIXELS[:0]), "must be positive, not 5 and 0"),
        (Frame(PIXELS, width=6), r"shape \(3, 6, 3\), not \(3, 5, 3\)"),
        (Frame(PIXELS, "gray8"), r"shape \(3, 5\), not \(3, 5, 3\)"),
        (Frame(PIXELS.astype(np.float32)), "of type uint8, not float32"),
        (Frame(PIXELS[..., 0].astype(">f4"), "grayf32"), "of type float32, not >f4"),
        (Frame(PIXELS.tolist(), width=5, height=3), "numpy array, not list"),
        (Frame(None, width=5, height=3), "numpy array, not NoneType"),
        (Frame(torch.zeros(3, 5, 3, dtype=torch.uint8)), "numpy array, not Tensor"),
    ],
)
def test_a_frame_that_is_not_what_it_says_is_refused(frame, cause):
    with pytest.raises(UnusableError, match=cause):
        check_frame(frame)


@pytest.mark.parametrize(
    ("source", "channels", "expected"),
    [
        ("rgb24", 3, "rgb24"),
        ("bgr24", 3, "bgr24"),
        ("bgr24", 1, "gray8"),
        ("gray8", 1, "gray8"),
        ("gray8", 3, "rgb24"),
        ("grayf32", 1, "grayf32"),
    ],
)
def test_format_of_the_result(source, channels, expected):
    output = torch.zeros(1, channels, 4, 6)
    assert check_output(output, PIXEL_FORMATS[source]) == (PIXEL_FORMATS[expected], 6, 4)


@pytest.mark.parametrize(
    ("output", "cause"),
    [
        (None, "must return a tensor, not NoneType"),
        ((torch.zeros(1, 3, 2, 2),), "must return a tensor, not tuple"),
        (torch.zeros(3, 2, 2), r"shape \(1, C, H, W\), not \(3, 2, 2\)"),
        (torch.zeros(2, 3, 2, 2), r"shape \(1, C, H, W\), not \(2, 3, 2, 2\)"),
        (torch.zeros(1, 3, 2, 2, dtype=torch.int64), "floating type, not torch.int64"),
        (torch.zeros(1, 3, 2, 2, dtype=torch.bool), "floating type, not torch.bool"),
        (torch.zeros(1, 3, 2, 2, dtype=torch.complex64), "floating type, not torch.complex64"),
        (torch.zeros(1, 3, 2, 2).to_sparse(), "dense tensor"),
        (torch.zeros(1, 3, 0, 2), "empty"),
        (torch.zeros(1, 2, 2, 2), "2 channels from rgb24"),
        (torch.zeros(1, 0, 2, 2), "0 channels from rgb24"),
    ],
)
def test_an_output_that_cannot_be_shown_is_refused(output, cause):
    with pytest.raises(UnusableError, match=cause):
        check_output(output, RGB)


def test_three_channels_from_float_gray_have_no_format():
    with pytest.raises(UnusableError, match="3 channels from grayf32"):
        check_output(torch.zeros(1, 3, 2, 2), GRAYF32)
