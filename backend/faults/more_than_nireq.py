"""A backend says that it has two requests, and holds more frames than that."""

from __future__ import annotations

from collections import deque

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Holds eight of sixteen frames back, in turn with none."""

    nireq = 2
    held = 8

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._submitted = 0
        self._flushed = False

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        self._frames.append(frame)
        self._submitted += 1

    def get_result(self) -> Frame | None:
        """The next result, None if none is ready."""
        held = self._submitted % (self.held + 1)
        return (
            self._frames.popleft() if len(self._frames) > (0 if self._flushed else held) else None
        )

    def flush(self) -> None:
        """No more frames come."""
        self._flushed = True

    def close(self) -> None:
        """Drop what nobody took."""
        self._frames.clear()


class Repaired(Faulty):
    """Holds one back at most."""

    held = 1


FAULT = Fault(
    about="more frames in flight than there are requests",
    rule="bounded-in-flight",
    kind="in-flight-above-nireq",
    level="zero-growth",
    workload="32x32@25*36",
    cycles=1,
    faulty=Faulty,
    repaired=Repaired,
)
