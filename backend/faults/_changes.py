"""What is done when the width changes, and a workload in which it does so again and again."""

from __future__ import annotations

from backend.frame import Frame

WORKLOAD = ",".join(["32x32@25*4", "40x32@25*4"] * 4)


class OnChange:
    """Hands frames on, and calls `changed` for the first one of each width."""

    def __init__(self) -> None:
        self._width = 0
        self.nbytes = 0
        """of a frame of this width"""

    def __call__(self, frame: Frame) -> Frame:
        if frame.width != self._width:
            self._width = frame.width
            self.nbytes = frame.data.nbytes
            self.changed()
        return frame

    def changed(self) -> None:
        """Make what frames of this width need."""
        raise NotImplementedError
