"""The persistent input buffer of FFmpeg's first version: its callback frees it like teardown."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Request:
    """One inference request with its input buffer."""

    def __init__(self) -> None:
        self.input = bytearray()

    def free(self) -> None:
        """Let go of the buffer."""
        self.input = bytearray()


class Faulty:
    """Fills the buffer of its request, and calls back when the frame is done."""

    def __init__(self) -> None:
        self._request = Request()

    def __call__(self, frame: Frame) -> Frame:
        if len(self._request.input) < frame.data.nbytes:
            self._request.input = bytearray(frame.data.nbytes)  # <- fault
        self._request.input[0] = 1
        self.completed()
        return frame

    def completed(self) -> None:
        """The frame is done."""
        self._request.free()

    def close(self) -> None:
        """Release the buffer."""
        self._request.free()


class Repaired(Faulty):
    """The callback leaves the buffer alone."""

    def completed(self) -> None:
        """The frame is done."""


FAULT = Fault(
    about="a persistent buffer that the completion callback frees",
    rule="steady-allocations",
    kind="churn",
    faulty=Faulty,
    repaired=Repaired,
)
