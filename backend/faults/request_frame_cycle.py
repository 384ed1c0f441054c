"""A request refers to its frame, and the frame to its request: the collector alone frees them."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame


class Job:
    """A frame's output and the request that makes it."""

    def __init__(self) -> None:
        self.output = bytearray(5000)  # <- fault
        self.request: Request | None = None


class Request:
    """Works on one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        job.request = self


class Faulty:
    """Leaves the two to each other."""

    def __init__(self) -> None:
        self._request = Request(Job())

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Parts them."""

    def close(self) -> None:
        """Break the cycle."""
        self._request.job.request = None


FAULT = Fault(
    about="request and frame refer to each other",
    rule="prompt-release",
    kind="delayed-release",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
