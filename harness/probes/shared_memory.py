"""Which segments in /dev/shm are this process's: those that it, or a child of it, was seen to use.

A segment bears no name of who made it, and other programs' segments come and go while a run is on.
So the folder is listed at each boundary of the run, which costs microseconds. When a name is there
that was not before, the mappings and descriptors of this process and of all below it are looked
through: who has it mapped or open, is using it.

The limit: a segment that is made, closed everywhere and left behind between two boundaries is seen
by nobody, unless Python's own `SharedMemory` made it, whose calls are watched.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator

from harness.probes.proc import descendants, text

FOLDER = "/dev/shm"  # noqa: S108 - this is where POSIX shared memory lives


class Segments:
    """The segments that the run made; those that were there before it are nobody's."""

    def __init__(self, folder: str = FOLDER) -> None:
        self._folder = folder
        self._before = frozenset(_listed(folder))
        self._looked_at = self._before
        self._own: set[str] = set()

    def look(self) -> None:
        """Notice the segments in use. To be called at each boundary."""
        listed = _listed(self._folder)
        if self._looked_at.issuperset(listed):
            return
        in_use = set(_in_use(self._folder))
        self._own |= in_use - self._before
        self._looked_at = self._before.union(listed)

    def made(self, name: str) -> None:
        """Python was asked to make a segment of this name."""
        if name.lstrip("/") not in self._before:
            self._own.add(name.lstrip("/"))

    def left(self) -> list[str]:
        """Paths of the run's segments that are there now, sorted."""
        self.look()
        return sorted(f"{self._folder}/{name}" for name in self._own & set(_listed(self._folder)))

    def watch_python(self) -> None:
        """Take note of each segment that Python's `SharedMemory` makes in this process."""
        try:
            import _posixshmem  # type: ignore[import-not-found] # SharedMemory calls it
        except ImportError:
            return
        make = _posixshmem.shm_open

        @functools.wraps(make)
        def shm_open(path: str, flags: int, mode: int = 0o777) -> int:
            handle = make(path, flags, mode)
            if flags & os.O_CREAT:
                self.made(path)
            return int(handle)

        _posixshmem.shm_open = shm_open


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _in_use(folder: str) -> Iterator[str]:
    """Names of the segments that this process or one below it has mapped or open."""
    prefix = folder + "/"
    for pid in [str(os.getpid()), *descendants()]:
        for path in [*_mapped(pid), *_opened(pid)]:
            if path.startswith(prefix):
                yield path.removeprefix(prefix)


def _mapped(pid: str) -> Iterator[str]:
    for line in text(f"/proc/{pid}/maps").splitlines():
        if (at := line.find("/")) >= 0:
            yield line[at:]


def _opened(pid: str) -> Iterator[str]:
    try:
        descriptors = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for descriptor in descriptors:
        try:
            yield os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            continue  # closed since it was listed
