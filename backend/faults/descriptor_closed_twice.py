"""A second close closes its descriptor once more: by then it may be somebody else's."""

from __future__ import annotations

import os

from backend.faults._deferred import Deferred
from backend.faults.fault import Fault


class Faulty(Deferred):
    """Holds a device."""

    def __init__(self) -> None:
        super().__init__()
        self.device = os.open("/dev/null", os.O_RDONLY)

    def close(self) -> None:
        """Give the device back, and drop what nobody took."""
        os.close(self.device)  # <- fault
        super().close()


class Repaired(Faulty):
    """Knows that it has given it back."""

    def close(self) -> None:
        """Do nothing the second time."""
        if self.device >= 0:
            super().close()
            self.device = -1


FAULT = Fault(
    about="a second close closes the same descriptor",
    rule="error-path",
    kind="second-close",
    level="zero-growth",
    workload="32x32@25*12",
    quick=False,
    faulty=Faulty,
    repaired=Repaired,
)
