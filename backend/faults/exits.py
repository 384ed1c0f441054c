"""A backend that ends the process when it is not content."""

from __future__ import annotations

import os

from backend.faults.fault import NO_VERDICT, Fault
from backend.frame import Frame


def faulty(frame: Frame) -> Frame:
    """Give up on the tenth frame."""
    if frame.pts == 10:
        os._exit(3)
    return frame


def repaired(frame: Frame) -> Frame:
    """Go on."""
    return frame


FAULT = Fault(
    about="the backend ends the process",
    rule=NO_VERDICT,
    kind="exited",
    phase="execute",
    workload="32x32@25*12",
    faulty=faulty,
    repaired=repaired,
)
