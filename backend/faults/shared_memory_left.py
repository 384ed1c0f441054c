"""A segment of shared memory that is closed, and not unlinked.

Whoever imports this clears up, when it ends, after processes that are gone.
"""

from __future__ import annotations

import atexit
import itertools
import mmap
import os
from pathlib import Path

from backend.faults.fault import Fault
from backend.frame import Frame

_FOLDER = Path("/dev/shm")  # noqa: S108 - where the segments of POSIX are
_PREFIX = "steadyframe-fault-"
_numbers = itertools.count()


class Faulty:
    """Leaves its segment."""

    def __init__(self) -> None:
        self._path = _FOLDER / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        with self._path.open("w+b") as segment:
            segment.truncate(mmap.PAGESIZE)
            self._pixels = mmap.mmap(segment.fileno(), mmap.PAGESIZE)

    def __call__(self, frame: Frame) -> Frame:
        return frame

    def close(self) -> None:
        """Unmap the segment."""
        self._pixels.close()


class Repaired(Faulty):
    """Removes it."""

    def close(self) -> None:
        """Unmap and remove the segment."""
        super().close()
        self._path.unlink()


@atexit.register
def _clear() -> None:
    for path in _FOLDER.glob(f"{_PREFIX}*"):
        if not Path("/proc", path.name.removeprefix(_PREFIX).partition("-")[0]).exists():
            path.unlink(missing_ok=True)


FAULT = Fault(
    about="a segment of shared memory is never unlinked",
    rule="teardown-resources",
    kind="shared-memory-segment",
    workload="32x32@25*12",
    faulty=Faulty,
    repaired=Repaired,
)
