"""What a tree of processes holds at one moment."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec
import psutil

from harness.errors import UsageError

_TRIES = 3
"""how often a sample is taken anew because a child came or went meanwhile"""
_FIELD = re.compile(r"^(\w+): +(\d+) kB$", re.MULTILINE)

Beside: TypeAlias = Callable[[psutil.Process, psutil.Process], bool]
"""Whether a process of the tree of a root, the first one, is none of those to be watched."""


class Sample(msgspec.Struct, frozen=True):
    """Sums over a process and all below it."""

    at: float
    """seconds since the watch began"""
    memory: int
    """bytes: anonymous and shared memory, each page by its share, and what of it is swapped out.
    What is judged. Pages of files are not in it: the kernel takes and drops them as it likes."""
    uss: int
    """bytes that no other process maps"""
    rss: int
    """bytes; what two processes share is counted twice"""
    pss: int
    """bytes; of what n processes share, the n-th part"""
    swap: int
    """bytes, by their share"""
    threads: int
    fds: int
    """open file descriptors"""
    processes: int


class NoPermissionError(Exception):
    """The process belongs to somebody else. One line: which, and how to mend it."""


class Tree:
    """A process and its descendants, whoever of them is there."""

    def __init__(self, pid: int, beside: Beside | None = None) -> None:
        """Processes are left out where `beside` says so. Raises UsageError if there is none."""
        try:
            self.root = psutil.Process(pid)
        except psutil.NoSuchProcess:
            raise UsageError(f"there is no process {pid}: check its number with `ps`") from None
        self._beside = beside
        self.unreadable: set[str] = set()
        """names of descendants whose memory may not be read"""

    def processes(self) -> list[psutil.Process]:
        """Those that are there now."""
        try:
            there = [self.root, *self.root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []
        return [process for process in there if not self._left_out(process)]

    def _left_out(self, process: psutil.Process) -> bool:
        try:
            return self._beside is not None and self._beside(self.root, process)
        except psutil.NoSuchProcess:
            return True

    def sample(self, at: float) -> Sample | None:
        """What they hold; None if the root has ended, or nothing is there yet.

        Raises NoPermissionError if the root may not be read.
        """
        there = self.processes()
        for _ in range(_TRIES):
            read = [self._read(process) for process in there]
            after = self.processes()
            if after == there:
                break
            there = after
        held = [numbers for numbers in read if numbers is not None]
        if not held or not self._alive():
            return None
        memory, uss, rss, pss, swap, threads, fds = map(sum, zip(*held, strict=True))
        return Sample(at, memory, uss, rss, pss, swap, threads, fds, len(held))

    def _alive(self) -> bool:
        try:
            return self.root.is_running() and self.root.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def _read(self, process: psutil.Process) -> tuple[int, ...] | None:
        """The numbers of one process, in the order of Sample's fields; None if it has ended."""
        try:
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
            threads, fds = process.num_threads(), process.num_fds()
        except (FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
            return None
        except (PermissionError, psutil.AccessDenied):
            name = f"{process.pid} ({_name(process)})"
            if process == self.root:
                raise NoPermissionError(
                    f"the memory of process {name} may not be read: it is another user's, "
                    "or protected; watch as that user or as root"
                ) from None
            self.unreadable.add(name)
            return None
        kib = {name: int(number) for name, number in _FIELD.findall(rollup)}
        if not kib:
            return None  # it is being torn down, and has no memory any more
        memory = kib["Pss_Anon"] + kib["Pss_Shmem"] + kib["SwapPss"]
        uss = kib["Private_Clean"] + kib["Private_Dirty"]
        sizes = (memory, uss, kib["Rss"], kib["Pss"], kib["SwapPss"])
        return (*(size * 1024 for size in sizes), threads, fds)


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return "?"
