"""The flight recorder: where a child is, in memory that outlives it.

Two processes map one small file. The child writes four integers, which costs no allocation; the
parent reads them for its progress display, to notice that nothing moves any more, and to say after
a crash how far it got.
"""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import NamedTuple

from harness.result import Failure

PHASES = (
    "start",
    "import",
    "decode",
    "open",
    "execute",
    "get_result",
    "flush",
    "close",
    "second close",
    "measure",
)


class Position(NamedTuple):
    """Where a run is."""

    phase: str
    cycle: int
    """from 1; 0 before the first"""
    frame: int
    """last frame submitted in this cycle, -1 before the first"""
    frames: int
    """frames of one cycle; 0 while unknown"""


def failure(kind: str, what: str, at: Position, detail: str) -> Failure:
    """A failure that says what happened and where the run was."""
    where = f"in {at.phase}"
    if at.cycle:
        where += f", cycle {at.cycle}"
    if at.frame >= 0:
        where += f", frame {at.frame}"
    return Failure(kind, at.phase, at.cycle, at.frame, f"{what} ({where})", detail)


def full_name(kind: type) -> str:
    """A type's name with its module's."""
    return f"{kind.__module__}.{kind.__qualname__}"


def map_file(path: Path, size: int) -> mmap.mmap:
    """Map a new file of zeros."""
    path.write_bytes(bytes(size))
    with path.open("r+b") as file:
        return mmap.mmap(file.fileno(), size)


class FlightRecorder:
    """Four 32-bit integers in a mapped file: phase, cycle, frame, frames."""

    _SIZE = 16

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create:
            self._map = map_file(path, self._SIZE)
        else:
            with path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), self._SIZE)
        self._view = memoryview(self._map).cast("i")
        if create:
            self._view[2] = -1

    def phase(self, name: str) -> None:
        """Enter a phase, one of PHASES."""
        self._view[0] = PHASES.index(name)

    def cycle(self, number: int) -> None:
        """Begin a cycle."""
        self._view[1] = number
        self._view[2] = -1

    def frame(self, number: int) -> None:
        """A frame is about to be submitted."""
        self._view[2] = number

    def frames(self, total: int) -> None:
        """A cycle has this many frames."""
        self._view[3] = total

    def read(self) -> Position:
        """Where the run is now."""
        phase, cycle, frame, frames = self._view
        return Position(PHASES[phase], cycle, frame, frames)

    def close(self) -> None:
        """Unmap the file."""
        self._view.release()
        self._map.close()
