"""Errors are kept for a report, and with their tracebacks all that the frames on the stack held."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Keeps exceptions."""

    def __init__(self) -> None:
        self._errors: list[object] = []

    def __call__(self, frame: Frame) -> Frame:
        try:
            self.infer(frame)
        except ValueError as error:
            self._errors.append(self.note(error))
            raise ValueError(str(error)) from None
        return frame

    def infer(self, frame: Frame) -> None:
        """Raise ValueError for what is no picture."""
        scratch = bytearray(3000)  # <- fault
        if frame.data.ndim != 3:
            raise ValueError(f"can't take it, with {len(scratch)} bytes at hand")

    def note(self, error: ValueError) -> object:
        """What is kept of an error."""
        return error


class Repaired(Faulty):
    """Keeps text, and of the last error only."""

    def note(self, error: ValueError) -> object:
        """What is kept of an error."""
        self._errors.clear()
        return str(error)


FAULT = Fault(
    about="kept exceptions keep the memory of their tracebacks",
    rule="error-path",
    kind="leak-per-error",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
