"""The model is registered to be released at exit: until then it stays, closed or not."""

from __future__ import annotations

import atexit

from torch import nn

from backend.faults.fault import Fault
from backend.frame import Frame


class Faulty:
    """Has its release called at exit, and not by close."""

    def __init__(self) -> None:
        self._model: nn.Module | None = nn.Linear(64, 64)  # <- fault
        atexit.register(self.release)

    def release(self) -> None:
        """Let go of the model."""
        self._model = None

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Releases on close, and has no more to do at exit."""

    def close(self) -> None:
        """Let go of the model."""
        atexit.unregister(self.release)
        self.release()


FAULT = Fault(
    about="close leaves the model to the end of the process",
    rule="teardown-release",
    kind="leak-per-cycle",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
