"""Frame to tensor and tensor to frame, without an allocation per frame.

Two layouts of the same pixels, each a set of views prepared once per geometry: packed, as in a
frame, and planar, as a model takes and gives them. A conversion copies plane by plane between
them. Why so: these torch calls make no malloc (measured: `copy_` between prepared views, `mul_`
by a prepared 0-d tensor, `clamp_`, `round_`, `nan_to_num_`), while making a view, multiplying by
a Python number, or `mul(out=)` of a cropped or transposed tensor does.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from backend.buffer import GrowOnlyBuffer
from backend.errors import UnusableError
from backend.frame import PIXEL_FORMATS, Frame, PixelFormat

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLOAT_BYTES = 4

_TORCH_DTYPES = {"uint8": torch.uint8, "float32": torch.float32}
_NUMPY_DTYPES = {name: np.dtype(name) for name in _TORCH_DTYPES}
_CHANNEL_ORDER = {"rgb24": (0, 1, 2), "bgr24": (2, 1, 0), "gray8": (0,), "grayf32": (0,)}
"""Where the model's channels (red, green, blue; or luma) are among a pixel's samples."""


class PackedPixels:
    """Pixels in a frame's layout, [H, W, C] interleaved, on a grow-only buffer in main memory.

    torch sees them as `planes`, one thread's or another's. numpy's view of them is its owner's to
    ask for, and to keep: see `new_array`.
    """

    __slots__ = ("buffer", "height", "pixel_format", "planes", "width")

    def __init__(self, *, pinned: bool = False) -> None:
        self.buffer = GrowOnlyBuffer(torch.device("cpu"), pinned=pinned)
        self._drop_views()

    def _drop_views(self) -> None:
        self.pixel_format: PixelFormat | None = None
        self.width = self.height = 0
        self.planes: tuple[torch.Tensor, ...] = ()

    def reserve(self, nbytes: int) -> bool:
        """Grow to `nbytes` if need be; True if it grew. Raises MemoryError, nothing changed."""
        grew = self.buffer.reserve(nbytes)
        if grew:
            self._drop_views()
        return grew

    def has_shape(self, pixel_format: PixelFormat, width: int, height: int) -> bool:
        """Whether the planes are those for this geometry."""
        return pixel_format is self.pixel_format and width == self.width and height == self.height

    def shape_as(self, pixel_format: PixelFormat, width: int, height: int) -> bool:
        """Make the planes for this geometry, if they aren't there; True if they are new.

        They are [H, W] each, in the model's order of channels. The capacity must be there.
        """
        if self.has_shape(pixel_format, width, height):
            return False
        channels = pixel_format.channels
        self.planes = tuple(
            self.buffer.view(
                _TORCH_DTYPES[pixel_format.dtype],
                (height, width),
                (width * channels, channels),
                offset,
            )
            for offset in _CHANNEL_ORDER[pixel_format.name]
        )
        self.pixel_format, self.width, self.height = pixel_format, width, height
        return True

    def new_array(self) -> NDArray[Any]:
        """A new array on this memory, of the frame's shape and dtype.

        Only on the caller's thread, and so is the old one to be dropped: numpy takes a small block
        for each from a short list of its own, and what two threads did to that at once would tell
        in the number of allocations.
        """
        assert self.pixel_format is not None
        channels, row = self.pixel_format.channels, self.width * self.pixel_format.channels
        view = self.buffer.view(
            _TORCH_DTYPES[self.pixel_format.dtype],
            self.pixel_format.shape(self.width, self.height),
            (row, 1) if channels == 1 else (row, channels, 1),
        )
        array: NDArray[Any] = view.numpy()
        return array


class PlanarTensor:
    """A float32 tensor [1, C, H, W] on a grow-only buffer."""

    __slots__ = ("_counts", "_shape", "buffer", "planes", "tensor")

    def __init__(self, device: torch.device) -> None:
        self.buffer = GrowOnlyBuffer(device)
        self._drop_views()

    def _drop_views(self) -> None:
        self._shape: tuple[int, ...] = ()
        self.planes: tuple[torch.Tensor, ...] = ()
        self.tensor = self.buffer.view(torch.float32, (0,), (1,))
        self._counts = self._reference_counts()

    def reserve(self, nbytes: int) -> bool:
        """Grow to `nbytes` if need be; True if it grew. Raises MemoryError, nothing changed."""
        grew = self.buffer.reserve(nbytes)
        if grew:
            self._drop_views()
        return grew

    def shape_as(self, channels: int, height: int, width: int) -> None:
        """Make the views for this shape, if they aren't there. The capacity must be there.

        `planes` are the channels, [H, W] each.
        """
        shape = (1, channels, height, width)
        # A model may have changed its input's shape in place (squeeze_, transpose_).
        if shape == self._shape == self.tensor.shape and self.tensor.is_contiguous():
            return
        area = height * width
        stride = (channels * area, area, width, 1)
        self.tensor = self.buffer.view(torch.float32, shape, stride)
        self.planes = tuple(
            self.buffer.view(torch.float32, (height, width), (width, 1), channel * area)
            for channel in range(channels)
        )
        self._shape = shape
        self._counts = self._reference_counts()

    def is_shared(self) -> bool:
        """Whether anyone else still refers to the tensor or to its memory.

        A model that keeps its input shows in one of three counts: of the Python object (an
        attribute), of the tensor (a TorchScript attribute), of the memory (a view, an array).
        """
        return self._reference_counts() != self._counts

    def _reference_counts(self) -> tuple[int, int, int]:
        tensor_count = self.tensor._use_count()
        return self.buffer.use_count(), tensor_count, sys.getrefcount(self.tensor)


class PlanarPixels(Protocol):
    """What a conversion takes of a planar layout: [1, C, H, W], and its channels, [H, W] each."""

    planes: tuple[torch.Tensor, ...]
    tensor: torch.Tensor


class Converter:
    """The arithmetic between 8-bit samples, 0 to 255, and a model's values, 0 to 1.

    grayf32 has a nominal range of 0 to 1 already and is passed as it is, both ways, as in FFmpeg.
    """

    __slots__ = ("_from_byte", "_to_byte")

    def __init__(self, device: torch.device) -> None:
        with torch.inference_mode(False):
            self._from_byte = torch.tensor(1 / 255, dtype=torch.float32, device=device)
            self._to_byte = torch.tensor(255, dtype=torch.float32, device=device)

    def load(self, pixels: PackedPixels, tensor: PlanarPixels) -> None:
        """Write the pixels to the tensor. Both have the same geometry."""
        _copy_planes(pixels.planes, tensor.planes)
        if _is_bytes(pixels):
            tensor.tensor.mul_(self._from_byte)

    def store(self, output: torch.Tensor, scratch: PlanarPixels, pixels: PackedPixels) -> None:
        """Write a model's output, [1, C, H, W] of any floating type and strides, to the pixels.

        8-bit samples are clipped and rounded half to even; not-a-number becomes 0. The output
        itself is left as it is, unless it is `scratch`: it may be the model's own memory. All have
        the same geometry.
        """
        values = scratch.tensor
        values.copy_(output)
        if _is_bytes(pixels):
            values.mul_(self._to_byte).nan_to_num_(0.0).clamp_(0, 255).round_()
        _copy_planes(scratch.planes, pixels.planes)


def _copy_planes(sources: tuple[torch.Tensor, ...], targets: tuple[torch.Tensor, ...]) -> None:
    for source, target in zip(sources, targets, strict=True):
        target.copy_(source)


def _is_bytes(pixels: PackedPixels) -> bool:
    assert pixels.pixel_format is not None
    return pixels.pixel_format.sample_bytes == 1


def check_frame(frame: Frame) -> tuple[PixelFormat, int, int]:
    """Format, width and height of a frame whose data are what it says.

    Raises UnusableError, or whatever an object that is no frame at all leads to.
    """
    pixel_format = PIXEL_FORMATS.get(frame.format)
    if pixel_format is None:
        raise UnusableError(
            f"unsupported pixel format {frame.format!r}; supported: {', '.join(PIXEL_FORMATS)}"
        )
    width, height = operator.index(frame.width), operator.index(frame.height)
    if width <= 0 or height <= 0:
        raise UnusableError(f"width and height must be positive, not {width} and {height}")
    data = frame.data
    if not isinstance(data, np.ndarray):
        raise UnusableError(f"data must be a numpy array, not {type(data).__name__}")
    if data.dtype != _NUMPY_DTYPES[pixel_format.dtype]:
        raise UnusableError(
            f"{pixel_format.name} data must be of type {pixel_format.dtype}, not {data.dtype}"
        )
    shape = pixel_format.shape(width, height)
    if data.shape != shape:
        raise UnusableError(f"data must have the shape {shape}, not {data.shape}")
    return pixel_format, width, height


def check_output(output: object, source: PixelFormat) -> tuple[PixelFormat, int, int]:
    """Format, width and height of the frame that shows a model's output for a `source` frame.

    Raises UnusableError for an output that can't be shown.
    """
    if not isinstance(output, torch.Tensor):
        raise UnusableError(f"the model must return a tensor, not {type(output).__name__}")
    shape = output.shape
    if len(shape) != 4 or shape[0] != 1:
        raise UnusableError(
            f"the model's output must have the shape (1, C, H, W), not {tuple(shape)}"
        )
    if not output.dtype.is_floating_point or output.layout is not torch.strided:
        raise UnusableError(
            "the model's output must be a dense tensor of a floating type, "
            f"not {output.dtype}, {output.layout}"
        )
    _, channels, height, width = shape
    if width <= 0 or height <= 0:
        raise UnusableError(f"the model's output is empty: {tuple(shape)}")
    return _result_format(source, channels), width, height


def _result_format(source: PixelFormat, channels: int) -> PixelFormat:
    if channels == source.channels:
        return source
    if channels == 1 and source.channels == 3:
        return PIXEL_FORMATS["gray8"]
    if channels == 3 and source.name == "gray8":
        return PIXEL_FORMATS["rgb24"]
    raise UnusableError(f"the model made {channels} channels from {source.name}: no format fits")
