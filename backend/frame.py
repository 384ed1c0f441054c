"""Frames and pixel formats: what goes into a backend and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PixelFormat:
    """A packed pixel format, under FFmpeg's name for it."""

    name: str
    channels: int
    dtype: str
    """numpy's name of the type of one sample"""
    sample_bytes: int

    def shape(self, width: int, height: int) -> tuple[int, ...]:
        """Shape of a frame's array: (height, width) for gray, else (height, width, channels)."""
        return (height, width) if self.channels == 1 else (height, width, self.channels)

    def nbytes(self, width: int, height: int) -> int:
        """Bytes of one frame without padding."""
        return width * height * self.channels * self.sample_bytes


PIXEL_FORMATS: dict[str, PixelFormat] = {
    pixel_format.name: pixel_format
    for pixel_format in (
        PixelFormat("rgb24", 3, "uint8", 1),
        PixelFormat("bgr24", 3, "uint8", 1),
        PixelFormat("gray8", 1, "uint8", 1),
        PixelFormat("grayf32", 1, "float32", 4),
    )
}


class Frame:
    """Pixels with their format, geometry and presentation time stamp.

    `data` has the shape `PixelFormat.shape(width, height)`. `width` and `height` are those of
    `data` unless they are given, so that a frame can also describe what its data is not: it is the
    backend that refuses such a frame, at the frame's turn in the order.
    """

    __slots__ = ("__weakref__", "data", "format", "height", "pts", "width")

    def __init__(
        self,
        data: NDArray[Any] | np.generic | Any,
        format: str = "rgb24",
        *,
        width: int | None = None,
        height: int | None = None,
        pts: int = 0,
    ) -> None:
        self.data = data
        self.format = format
        self.width: int = data.shape[1] if width is None else width
        self.height: int = data.shape[0] if height is None else height
        self.pts = pts

    def __repr__(self) -> str:
        return f"Frame({self.width}x{self.height}:{self.format}, pts={self.pts})"
