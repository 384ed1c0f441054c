"""Memory is freed while the worker still writes to it: FFmpeg's close with a frame in flight."""

from __future__ import annotations

import ctypes

from backend.faults._worker import OnWorker
from backend.faults.fault import NO_VERDICT, Fault
from backend.frame import Frame

_memory = ctypes.create_string_buffer(64)


class Repaired(OnWorker):
    """Stops the worker, then frees the buffer that the worker clears at its end."""

    def __init__(self) -> None:
        self._address = ctypes.addressof(_memory)
        super().__init__()

    def work(self, frame: Frame) -> Frame:
        """Leave something in the buffer."""
        ctypes.memset(self._address, 1, 64)
        return frame

    def finish(self) -> None:
        """Clear the buffer."""
        ctypes.memset(self._address, 0, 64)

    def free(self) -> None:
        """Give the buffer back."""
        self._address = 0

    def close(self) -> None:
        """End the worker, free the buffer."""
        super().close()
        self.free()


class Faulty(Repaired):
    """The other way round."""

    def close(self) -> None:
        """Free the buffer, end the worker."""
        self.free()
        OnWorker.close(self)


FAULT = Fault(
    about="close frees a buffer that the worker still writes to",
    rule=NO_VERDICT,
    kind="crashed",
    phase="close",
    faulty=Faulty,
    repaired=Repaired,
)
