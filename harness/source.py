"""Where the frames of a measured run come from: pixels prepared beforehand, copied out one by one.

This file is on the measured path. All that it allocates per frame is one array of pixels, in
`_fresh_copy`, the tensor that a bare model is given, and small Python objects: the harness
attributes memory by file, and takes what is born here for the source's. A backend that keeps the
frames it is given is thereby seen as growth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from backend.frame import PIXEL_FORMATS, Frame, PixelFormat

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from harness.video import DecodedVideo
    from harness.workload import Workload

    Pixels = NDArray[Any]
    Geometry = tuple[int, int, str]

POOL_BYTES = 256 * 2**20
"""Most bytes of pixels that a synthetic source prepares (two frames per geometry at the least)"""

_MARGIN = 16
"""Pixels by which the window on the texture can move, on each axis"""
_BLOCK = 8
"""Side of the texture's coarse blocks in pixels"""
_STAMPS = 256
"""Frames in a row that the first sample alone tells apart"""


class FrameSource:
    """Frames by number; `frame` hands out a fresh copy each time, as a decoder would."""

    __slots__ = ("_prepared",)

    def __init__(self, prepared: Sequence[tuple[Pixels, str]]) -> None:
        """Take the pixels and the pixel format of every frame.

        The arrays have the shape `PixelFormat.shape(width, height)`; several frames may share one.
        """
        self._prepared = tuple(prepared)

    def __len__(self) -> int:
        return len(self._prepared)

    def repeated(self, times: int) -> FrameSource:
        """The same frames over and over, their numbers going on; the pixels are shared."""
        return FrameSource(self._prepared * times)

    def frame(self, number: int) -> Frame:
        """Frame `number`, from 0, with its number as pts; raises IndexError past the end."""
        pixels, pixel_format = self._prepared[number]
        return Frame(_fresh_copy(pixels), pixel_format, pts=number)


def as_tensor(frame: Frame) -> torch.Tensor:
    """A frame as models take it: a new float32 tensor of [1, C, H, W], 8-bit samples as 0 to 1.

    It is an input like the frame itself: a model that keeps it is seen as growth.
    """
    import torch

    pixels = torch.from_numpy(frame.data)
    planes = pixels.permute(2, 0, 1) if pixels.dim() == 3 else pixels.unsqueeze(0)
    values = planes.unsqueeze(0).to(torch.float32, copy=True).contiguous()
    return values.div_(255) if pixels.dtype == torch.uint8 else values


def _fresh_copy(pixels: Pixels) -> Pixels:
    """The one place where memory for pixels is allocated while a run is measured."""
    return pixels.copy()


def video_source(video: DecodedVideo) -> FrameSource:
    """The frames of a decoded video."""
    return FrameSource([(pixels, video.format) for pixels in video.frames])


def synthetic_source(workload: Workload, default_format: str, seed: int) -> FrameSource:
    """Moving, textured frames for the workload; `seed` is 0 or more.

    A geometry's content depends on nothing but the seed, its size and its format, so a part of a
    workload shows the same frames as the whole. Frames of one geometry closer than 256 to each
    other differ (in their first sample, if they are too small to differ by chance).

    When all frames together exceed `POOL_BYTES`, every geometry gets its share of it and repeats
    its distinct frames in a ring, of two frames at the least.
    """
    runs: list[tuple[Geometry, int]] = [
        ((segment.width, segment.height, segment.format or default_format), segment.frames)
        for segment in workload.segments
    ]
    counts: Counter[Geometry] = Counter()
    for geometry, frames in runs:
        counts[geometry] += frames
    rings = {
        geometry: cycle([(pixels, geometry[2]) for pixels in _moving(geometry, length, seed)])
        for geometry, length in _ring_lengths(counts).items()
    }
    return FrameSource([next(rings[geometry]) for geometry, frames in runs for _ in range(frames)])


def _ring_lengths(counts: Counter[Geometry]) -> dict[Geometry, int]:
    """Number of distinct frames to prepare for each geometry, from its number of frames."""
    total = sum(
        count * PIXEL_FORMATS[pixel_format].nbytes(width, height)
        for (width, height, pixel_format), count in counts.items()
    )
    if total <= POOL_BYTES:
        return dict(counts)
    return {
        geometry: min(count, max(2, count * POOL_BYTES // total))
        for geometry, count in counts.items()
    }


def _moving(geometry: Geometry, length: int, seed: int) -> Iterator[Pixels]:
    """`length` frames: a window that moves over a texture, the first sample set to the count."""
    width, height, name = geometry
    pixel_format = PIXEL_FORMATS[name]
    texture = _texture(width + _MARGIN, height + _MARGIN, pixel_format, seed)
    for number in range(length):
        left, top = number % _MARGIN, number * 3 % _MARGIN
        pixels = texture[top : top + height, left : left + width].copy()
        stamp = number % _STAMPS
        pixels.flat[0] = stamp if pixel_format.dtype == "uint8" else stamp / (_STAMPS - 1)
        yield pixels


def _texture(width: int, height: int, pixel_format: PixelFormat, seed: int) -> Pixels:
    """Coarse blocks (three quarters of the range) under fine noise (one quarter).

    Real pictures have both; a video encoder can follow the blocks, and no two windows are equal.
    """
    random = np.random.default_rng([seed, width, height, *pixel_format.name.encode()])
    coarse_shape = pixel_format.shape(-(-width // _BLOCK), -(-height // _BLOCK))
    coarse = random.integers(0, 192, coarse_shape, dtype=np.uint8)
    texture = coarse.repeat(_BLOCK, axis=0)[:height].repeat(_BLOCK, axis=1)[:, :width]
    texture = texture + random.integers(0, 64, texture.shape, dtype=np.uint8)
    if pixel_format.dtype == "uint8":
        return texture
    return texture.astype(pixel_format.dtype) / np.float32(255)
