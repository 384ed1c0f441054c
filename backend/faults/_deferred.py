"""What faults after an error have in common: errors are brought to `get_result`, in their turn."""

from __future__ import annotations

from collections import deque
from typing import Any

from backend.frame import Frame


class Deferred:
    """Puts out the negative of each frame. `failed` is what a fault changes."""

    def __init__(self) -> None:
        self.done: deque[Any] = deque()
        self.failures = 0

    def execute(self, frame: Frame) -> None:
        """Take in one frame."""
        if self.takes(frame):
            self.done.append(self.infer(frame))
        else:
            self.failures += 1
            self.failed(frame)

    def takes(self, frame: Frame) -> bool:
        """Whether the frame is a picture."""
        data: Any = frame.data
        return bool(frame.format == "rgb24" and data.dtype == "uint8" and data.ndim == 3)

    def infer(self, frame: Frame) -> Any:
        """The result of one frame."""
        data: Any = frame.data
        return 255 - data

    def failed(self, frame: Frame) -> None:
        """What becomes of a frame that can't be taken."""
        self.done.append(f"can't take a frame of format {frame.format}")

    def get_result(self) -> Any:
        """The next result, None if none is ready; raises ValueError in the turn of an error."""
        done = self.done.popleft() if self.done else None
        if isinstance(done, str):
            raise ValueError(done)
        return done

    def flush(self) -> None:
        """Nothing is ever in flight."""

    def close(self) -> None:
        """Drop what nobody took."""
        self.done.clear()
