"""A helper process that close does not end."""

from __future__ import annotations

import subprocess
import sys

from backend.faults.fault import Fault
from backend.frame import Frame

_PROGRAM = "import time; time.sleep(30)"


class Faulty:
    """Starts a helper."""

    def __init__(self) -> None:
        self._child = subprocess.Popen([sys.executable, "-S", "-c", _PROGRAM])

    def __call__(self, frame: Frame) -> Frame:
        return frame


class Repaired(Faulty):
    """Ends it."""

    def close(self) -> None:
        """End the helper."""
        self._child.kill()
        self._child.wait()


FAULT = Fault(
    about="a child process is left running",
    rule="teardown-resources",
    kind="child-process",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
