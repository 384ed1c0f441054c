"""The frames of harness.bad_frames, good and bad: made by the process that feeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness import bad_frames
from harness.source import FrameSource, synthetic_source
from harness.workload import Workload

if TYPE_CHECKING:
    from backend.frame import Frame

UNKNOWN_FORMAT = "steadyframe-unknown"


def spoiled_source(first: Frame, seed: int) -> FrameSource:
    """The frames of the schedule, in the geometry of this one.

    All are made beforehand. What is handed out is a copy, and counts as the source's memory.
    """
    planned = bad_frames.schedule()
    text = f"{first.width}x{first.height}:{first.format}@25*{len(planned)}"
    good = synthetic_source(Workload.parse(text), first.format, seed)
    frames = [good.frame(frame.number) for frame in planned]
    return FrameSource(
        [
            _spoiled(np.asarray(frame.data), frame.format, plan.bad)
            for frame, plan in zip(frames, planned, strict=True)
        ]
    )


def _spoiled(
    pixels: np.ndarray[Any, Any], pixel_format: str, kind: str
) -> tuple[np.ndarray[Any, Any], str]:
    if kind == "no pixels":
        return pixels[:0, :0].copy(), pixel_format
    if kind == "float64 samples":
        return pixels.astype(np.float64), pixel_format
    if kind == "a wrong number of channels":
        many = pixels[..., 0] if pixels.ndim == 3 else np.stack([pixels, pixels], axis=-1)
        return np.ascontiguousarray(many), pixel_format
    if kind == "an unknown pixel format":
        return pixels, UNKNOWN_FORMAT
    return pixels, pixel_format
