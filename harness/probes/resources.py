"""What the process holds: threads, descriptors, children, mappings, shared memory.

Each is listed with a name, such that equal resources of two cycles have equal names, and with what
tells this one from its like. Memory mapped without a file has no name and no edge, as the kernel
joins neighbours: of that there is only a total, and one of what is executable.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import msgspec

from harness.probes import mallinfo
from harness.probes.proc import children, state, text
from harness.probes.shared_memory import Segments

KINDS = ("threads", "descriptors", "children", "mappings", "shared_memory")
"""The ledger's entries that are lists of `Held` and must be given back."""

_COMMAND_SHOWN = 120
_EXECS_S = 1.0
"""at most, for all children together; each takes a millisecond or two"""
_STDLIB = sysconfig.get_paths()["stdlib"]
_HARNESS = os.path.dirname(os.path.dirname(__file__))


class Held(msgspec.Struct, frozen=True, omit_defaults=True):
    """One resource."""

    name: str
    """equal for equal resources: without numbers that are given out in turn"""
    kind: str = ""
    """what it is, in the singular"""
    detail: str = ""
    """what tells it from its like: a number, an address, a command"""
    file: str = ""
    line: int = 0
    function: str = ""
    """where it runs or was made, as far as can be told"""


class Mapping(NamedTuple):
    """One line of /proc/self/maps."""

    addresses: str
    access: str
    is_file: bool
    path: str
    """empty for anonymous memory"""

    @property
    def extent(self) -> tuple[int, int]:
        """The first address, and the one behind the last."""
        start, end = self.addresses.split("-")
        return int(start, 16), int(end, 16)

    @property
    def size(self) -> int:
        """Bytes of address space."""
        start, end = self.extent
        return end - start


def snapshot(segments: Segments | None = None) -> dict[str, Any]:
    """The ledger of this process now. Without `segments` none in /dev/shm is listed."""
    heap = mallinfo.heap()
    maps = list(_maps())
    left = segments.left() if segments is not None else []
    return {
        "threads": _sorted(_threads()),
        "descriptors": _sorted(_descriptors()),
        "children": _sorted(_children()),
        "mappings": _sorted(_mappings(maps)),
        "shared_memory": [Held(path, "shared memory segment") for path in left],
        "anonymous_bytes": _anonymous_bytes(maps, executable=False),
        "executable_bytes": _anonymous_bytes(maps, executable=True),
        "heap_bytes": heap.used + heap.mapped,
        "heap_mapped_bytes": heap.mapped,
        "python_blocks": sys.getallocatedblocks(),
        "rss_bytes": int(text("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE"),
        "uss_bytes": _unshared_bytes(),
    }


def _unshared_bytes() -> int:
    """Resident memory that no other process shares: what would be free if this one ended."""
    rollup = text("/proc/self/smaps_rollup")
    return 1024 * sum(map(int, re.findall(r"^Private_\w+: +(\d+) kB$", rollup, re.MULTILINE)))


def mapped() -> tuple[tuple[int, int], ...]:
    """All of this process's memory, as ascending (first address, the one behind the last)."""
    ranges: list[tuple[int, int]] = []
    for mapping in _maps():
        first, behind = mapping.extent
        if ranges and ranges[-1][1] == first:
            first = ranges.pop()[0]
        ranges.append((first, behind))
    return tuple(ranges)


def _maps() -> Iterator[Mapping]:
    for line in text("/proc/self/maps").splitlines():
        addresses, access, _, _, inode, *path = line.split(maxsplit=5)
        yield Mapping(addresses, access, inode != "0", path[0] if path else "")


def _sorted(held: Iterator[Held]) -> list[Held]:
    return sorted(held, key=lambda one: (one.name, one.detail))


def _threads() -> Iterator[Held]:
    known = {thread.native_id: thread for thread in threading.enumerate()}
    for task in os.listdir("/proc/self/task"):
        thread = known.get(int(task))
        if thread is None:
            comm = text(f"/proc/self/task/{task}/comm").strip()
            if comm:
                yield Held(f"native thread '{comm}'", "thread", f"thread {task}")
            continue
        # Threads without a name of their own are numbered through.
        name = re.sub(r"\d+", "N", thread.name)
        yield Held(name, "thread", thread.name, *_runs(thread))


def _runs(thread: threading.Thread) -> tuple[str, int, str]:
    """Where a thread was made to run: its outermost line outside the standard library."""
    lines: list[tuple[str, int, str]] = []
    frame: FrameType | None = sys._current_frames().get(thread.ident or 0)
    while frame is not None:
        lines.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    if users := [line for line in lines if not _is_librarys(line[0])]:
        return users[-1]
    # What runs is a function of the library's, or one without lines: then who it was made of.
    target = getattr(thread, "_target", None)
    owner = getattr(target, "__self__", None)
    code = getattr(getattr(target, "__func__", target), "__code__", None)
    if code is not None:
        return code.co_filename, code.co_firstlineno, code.co_name
    if target is not None:
        made_of = f"{type(owner).__name__}." if owner is not None else ""
        return "", 0, f"{made_of}{getattr(target, '__name__', '')}"
    return "", 0, ""


def _is_librarys(file: str) -> bool:
    in_stdlib = file.startswith(_STDLIB) and "site-packages" not in file
    return in_stdlib or file.startswith((_HARNESS, "<frozen"))


def _descriptors() -> Iterator[Held]:
    """The open descriptors by target; sockets and pipes by kind alone, as their numbers vary."""
    for entry in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{entry}")
        except FileNotFoundError:
            continue  # the one that listed the folder
        name = target if target[0] == "/" else target.split("[")[0].rstrip(":")
        kind = "memfd" if target.startswith("/memfd:") else "file descriptor"
        detail = f"descriptor {entry}" + ("" if name == target else f", {target}")
        yield Held(name, kind, detail)


def _children() -> Iterator[Held]:
    """The child processes, started from whichever thread."""
    until = time.monotonic() + _EXECS_S
    for pid in children("self"):
        program = _program(pid, until)  # first: only then has it the name of what it runs
        comm = text(f"/proc/{pid}/comm").strip()
        # Python starts one at first use, for as long as the process lives.
        if comm and "multiprocessing.resource_tracker" not in program:
            yield Held(comm, "child process", f"process {pid}: {program}")


def _program(pid: str, until: float) -> str:
    """What a child runs. A fork has the command of this process, which is the harness's own."""
    command = _command(pid, until)
    if not command.strip("\0"):
        return "ended, not waited for" if _has_ended(pid) else "without a command"
    if command == text("/proc/self/cmdline"):
        return "a fork of the run"
    return command.replace("\0", " ").strip()[:_COMMAND_SHOWN]


def _command(pid: str, until: float) -> str:
    """The command line of a process, empty if it has ended or has none `until` then.

    Between the moment in which `exec` lets the parent go on and its end it is empty as well, and
    the name is still the parent's.
    """
    while not (command := text(f"/proc/{pid}/cmdline")):
        if _has_ended(pid) or time.monotonic() > until:
            break
        time.sleep(0.001)
    return command


def _has_ended(pid: str) -> bool:
    return state(pid) in ("", "Z", "X")


def _mappings(maps: list[Mapping]) -> Iterator[Held]:
    """Loaded libraries, one each, and all other mapped files."""
    libraries = {mapping.path for mapping in maps if "x" in mapping.access and mapping.is_file}
    for path in libraries:
        yield Held(path, "executable mapping")
    for mapping in maps:
        if mapping.is_file and mapping.path not in libraries:
            kind = "memfd mapping" if mapping.path.startswith("/memfd:") else "mapped file"
            yield Held(mapping.path, kind, f"at {mapping.addresses}")


def _anonymous_bytes(maps: list[Mapping], *, executable: bool) -> int:
    """Address space mapped without a file, but for the heap that the allocator keeps."""
    return sum(
        mapping.size
        for mapping in maps
        if not mapping.path and ("x" in mapping.access) is executable
    )
