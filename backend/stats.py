"""What a backend counts, and the snapshot of it that users see."""

from __future__ import annotations

from dataclasses import dataclass


class Counters:
    """The running counts.

    Each is written by one thread at a time: the first four by the caller, `retained_inputs` by
    whoever runs the inference, `growth_events` by the same, or by the caller while nothing is in
    flight. So none needs a lock.
    """

    __slots__ = (
        "frames_failed",
        "frames_in",
        "frames_out",
        "growth_events",
        "peak_in_flight",
        "retained_inputs",
    )

    def __init__(self) -> None:
        self.frames_in = 0
        self.frames_out = 0
        self.frames_failed = 0
        self.peak_in_flight = 0
        self.retained_inputs = 0
        self.growth_events = 0


@dataclass(frozen=True, slots=True)
class BackendStats:
    """One moment of a backend's life. Sizes are in bytes."""

    frames_in: int
    """submitted"""
    frames_out: int
    """collected as a result"""
    frames_failed: int
    """collected as an error"""
    in_flight: int
    peak_in_flight: int
    """most requests at work at once; never more than nireq"""
    input_bytes: tuple[int, ...]
    """capacity of the model's input, per request"""
    staging_bytes: tuple[int, ...]
    """capacity of the copy of the frame as it came, per request"""
    growth_events: int
    """how often any buffer (staging, input, scratch, result) was allocated, first time included"""
    retained_inputs: int
    """how often the model kept its input past the inference"""
    lent_buffers: int
    """input buffers that circulate through the model, beside those of the requests"""
    scratch_bytes: int
    arena_bytes: int
    """capacity of the planned executor's memory, for the model's input, output and all between"""
    result_slots: int
    result_bytes: int
