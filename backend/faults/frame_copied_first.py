"""A variation on the reference backend, which copies each frame once more before it stages it."""

from __future__ import annotations

from backend.faults.fault import Fault
from backend.frame import Frame
from backend.reference import TorchBackend


class Repaired(TorchBackend):
    """The reference backend, with a worker."""

    def __init__(self) -> None:
        super().__init__("identity", mode="async", nireq=2)


class Faulty(Repaired):
    """Makes sure that nobody changes the frame meanwhile."""

    def execute(self, frame: Frame) -> None:
        """Submit a copy."""
        data = frame.data.copy()  # <- fault
        super().execute(Frame(data, frame.format, pts=frame.pts))


FAULT = Fault(
    about="the reference backend, with a copy of each frame",
    rule="steady-allocations",
    kind="churn",
    workload="32x32@100*48",
    faulty=Faulty,
    repaired=Repaired,
)
