"""The capacity is compared with `!=` instead of `<`."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Repaired:
    """Grows for what is larger."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def __call__(self, frame: Frame) -> Frame:
        if len(self._buffer) < frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)
        return frame


class Faulty(Repaired):
    """Makes it anew for what is different."""

    def __call__(self, frame: Frame) -> Frame:
        if len(self._buffer) != frame.data.nbytes:
            self._buffer = bytearray(frame.data.nbytes)  # <- fault
        return frame


FAULT = Fault(
    about="capacity compared with != instead of <",
    rule="grow-only",
    kind="regrowth",
    workload="48x48@25*12,40x40@25*12,48x48@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
