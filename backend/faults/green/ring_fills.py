"""A ring of the last frames, for a temporal filter: it grows until it is full."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.frame import Frame

_LENGTH = 12


class Backend:
    """Keeps the last frames."""

    def __init__(self) -> None:
        self._ring: list[Frame | None] = [None] * _LENGTH
        self._next = 0

    def __call__(self, frame: Frame) -> Frame:
        self._ring[self._next] = frame
        self._next = (self._next + 1) % _LENGTH
        return frame


GREEN = Green(
    about="a bounded ring of frames that fills",
    workload="32x32@25*60",
    backend=Backend,
)
