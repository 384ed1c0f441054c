"""While it grows, a buffer is there twice: its contents move to the new one."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Keeps what was in the buffer."""

    def __init__(self) -> None:
        self._history = bytearray()

    def __call__(self, frame: Frame) -> Frame:
        if len(self._history) < frame.data.nbytes:
            larger = bytearray(frame.data.nbytes)
            larger[: len(self._history)] = self._history
            self._history = larger
        return frame


GREEN = Green(
    about="a buffer that is there twice while it grows",
    workload="32x32@25*12,64x64@25*12,96x96@25*12,32x32@25*12",
    backend=Backend,
)
