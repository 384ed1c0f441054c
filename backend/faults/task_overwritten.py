"""A failed request keeps its old task, which the next one overwrites: 16 bytes an error."""

from __future__ import annotations

from backend.faults._native import raw_free, raw_malloc
from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Has a small native task made for each frame."""

    def __init__(self) -> None:
        self._task = 0

    def __call__(self, frame: Frame) -> Frame:
        self._task = raw_malloc(16)  # <- fault
        if frame.data.ndim != 3:
            self.failed()
            raise ValueError("the model takes three channels")
        self.done()
        return frame

    def done(self) -> None:
        """Free the task of a frame."""
        raw_free(self._task)

    def failed(self) -> None:
        """The task stays with the request, whose next frame overwrites it."""


class Repaired(Faulty):
    """A failed frame's task is freed as well."""

    def failed(self) -> None:
        """Free the task of the frame that failed."""
        self.done()


FAULT = Fault(
    about="the task of a failed request is overwritten, 16 bytes an error",
    rule="error-path",
    kind="leak-per-error",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
