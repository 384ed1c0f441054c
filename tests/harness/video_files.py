"""What the tests of video files share: their content, made in memory, and what a refusal says."""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from harness.errors import UsageError
from harness.video import decode


def pictures(width: int, height: int, count: int) -> list[NDArray[np.uint8]]:
    random = np.random.default_rng(width)
    blocks = random.integers(0, 256, (height // 8 + 10, width // 8 + 10, 3), dtype=np.uint8)
    texture = blocks.repeat(8, axis=0).repeat(8, axis=1)
    return [
        np.ascontiguousarray(texture[i % 64 : i % 64 + height, i % 50 : i % 50 + width])
        for i in range(count)
    ]


def encoded(
    muxer: str,
    codec: str,
    pixel_format: str,
    size: tuple[int, int] = (64, 48),
    count: int = 20,
    fps: Fraction | int = 30,
    **options: str,
) -> bytes:
    """A video file in memory, without frames that refer to later ones."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=muxer) as container:
        stream = container.add_stream(codec, rate=fps, options=options)
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = *size, pixel_format
        stream.codec_context.thread_count = 1
        stream.codec_context.max_b_frames = 0
        for number, pixels in enumerate(pictures(*size, count)):
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def refusal(path: str | Path, **options: int) -> str:
    """The message of the UsageError that decoding raises, checked to be one line with the name."""
    with pytest.raises(UsageError) as caught:
        decode(path, "rgb24", **options)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    assert ": " in message  # the remedy
    return message
