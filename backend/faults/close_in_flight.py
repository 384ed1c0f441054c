"""Memory is freed at once, though an inference that writes to it may be running."""

from __future__ import annotations

import ctypes

from backend.faults._worker import OnWorker
from backend.faults.fault import Fault
from backend.frame import Frame

_memory = ctypes.create_string_buffer(64)


class Repaired(OnWorker):
    """Ends the worker first."""

    def __init__(self) -> None:
        self._address = ctypes.addressof(_memory)
        super().__init__()

    def work(self, frame: Frame) -> Frame:
        """Write to the buffer."""
        ctypes.memset(self._address, 1, 64)  # <- fault
        return frame

    def close(self) -> None:
        """End the worker, free the buffer."""
        super().close()
        self._address = 0


class Faulty(Repaired):
    """Frees the buffer first."""

    def close(self) -> None:
        """Free the buffer, end the worker."""
        self._address = 0
        OnWorker.close(self)


FAULT = Fault(
    about="close frees a buffer that frames in flight are written to",
    rule="teardown-release",
    kind="crash-at-early-close",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
