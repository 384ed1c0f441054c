"""A mapped file that each instance leaves mapped, its descriptor closed."""

from __future__ import annotations

import mmap
from pathlib import Path

from backend.faults.fault import Fault
from backend.frame import Frame

_mapped: list[mmap.mmap] = []


class Faulty:
    """Maps its model file."""

    def __init__(self) -> None:
        with Path(__file__).open("rb") as model:
            _mapped.append(mmap.mmap(model.fileno(), 0, prot=mmap.PROT_READ))

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Unmaps it."""

    def close(self) -> None:
        """Let go of the model."""
        _mapped.pop().close()


FAULT = Fault(
    about="a mapped file stays mapped",
    rule="teardown-resources",
    kind="mapped-file",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
