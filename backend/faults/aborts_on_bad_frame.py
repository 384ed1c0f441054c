"""What the model can't take ends the process: a C++ exception that nobody catches."""

from __future__ import annotations

import os

from backend.faults.fault import Fault
from backend.frame import Frame


def faulty(frame: Frame) -> Frame:
    """Abort."""
    if frame.data.ndim != 3:
        os.abort()  # <- fault
    return frame


def repaired(frame: Frame) -> Frame:
    """Raise instead."""
    if frame.data.ndim != 3:
        raise ValueError("the model takes three channels")
    return frame


FAULT = Fault(
    about="a frame that the model can't take aborts the process",
    rule="error-path",
    kind="crash",
    workload="32x32@25*12",
    quick=False,
    faulty=faulty,
    repaired=repaired,
)
