"""A backend that is two frames behind: it holds two back, and never more."""

from __future__ import annotations

from backend.faults.fault import Green
from backend.frame import Frame


class Backend:
    """Needs to see two frames ahead."""

    def __init__(self) -> None:
        self._frames: list[Frame] = []
        self._flushed = False

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._frames.append(frame)

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        if len(self._frames) > (0 if self._flushed else 2):
            return self._frames.pop(0)
        return None

    def flush(self) -> None:
        """No more frames are to be seen."""
        self._flushed = True

    def close(self) -> None:
        """Nothing is held."""
        self._frames.clear()


GREEN = Green(
    about="a constant delay of two frames",
    level="zero-growth",
    workload="32x32@25*8",
    backend=Backend,
)
