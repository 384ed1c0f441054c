"""Small backends, each a clean text and the same with one line gone wrong.

The line of a fault stands in the place of `# here`; what only its close does wrong, in that of
`# at close`.
"""

from __future__ import annotations

from typing import NamedTuple

CLEAN = """\
import threading
import time

import torch

LEFT = []
CACHE = []


class Net(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        # in the model
        return y


class Backend:
    def __init__(self):
        self._buffer = bytearray()
        self._kept = []
        self._net = Net()
        self._input = torch.zeros(4)
        self._size = 0

    def __call__(self, frame):
        needed = frame.data.nbytes
        if len(self._buffer) < needed:
            self._buffer = bytearray(needed)  # growth
        with torch.no_grad():
            self._net(self._input)
        # here
        self._size = needed
        return frame

    def close(self):
        # at close
        self._kept.clear()
"""


class Fault(NamedTuple):
    """One kind of fault: what is replaced by what, and what must be said of it."""

    place: str
    line: str
    rule: str
    verdict_fails: bool
    """else nothing but the gate sees it"""


FAULTS = {
    "churn": Fault("# here", "torch.empty(1)", "steady-allocations", True),
    "kept": Fault("# here", "self._kept.append(bytearray(9000))", "steady-growth", True),
    "regrowth": Fault(
        "# here",
        "self._buffer = bytearray(needed) if needed != self._size else self._buffer",
        "grow-only",
        True,
    ),
    "larger": Fault(
        "self._buffer = bytearray(needed)  # growth",
        "self._buffer = bytearray(2 * needed)",
        "grow-only",
        False,
    ),
    "first-use": Fault(
        "# here", "CACHE or CACHE.append(bytearray(500_000))", "teardown-release", False
    ),
    "leak": Fault("# at close", "LEFT.append(bytearray(50_000))", "teardown-release", True),
    "thread": Fault(
        "# at close",
        "threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "teardown-resources",
        True,
    ),
    "model": Fault("# in the model", "y = y + 1", "steady-allocations", False),
}


def faulty(name: str) -> str:
    """The text with this fault."""
    fault = FAULTS[name]
    assert CLEAN.count(fault.place) == 1
    return CLEAN.replace(fault.place, fault.line)


def line_of(name: str) -> int:
    """Number of the faulty line."""
    return CLEAN[: CLEAN.index(FAULTS[name].place)].count("\n") + 1
