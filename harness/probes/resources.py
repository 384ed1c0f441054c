"""What the process holds: threads, descriptors, children, mappings, shared memory.

Each is listed with a name, such that equal resources of two cycles have equal names, and with what
tells this one from its like. Memory mapped without a file has no name and no edge, as the kernel
joins neighbours: of that there is only a total.
"""

from __future__ import annotations

import os
import re
import sys
import sysconfig
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import msgspec

from harness.probes.proc import children, text
from harness.probes.shared_memory import Segments

KINDS = ("threads", "descriptors", "children", "mappings", "shared_memory")
"""The ledger's entries that are lists of `Held` and must be given back."""

_COMMAND_SHOWN = 120
_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))
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


def snapshot(segments: Segments | None = None) -> dict[str, Any]:
    """The ledger of this process now. Without `segments` none in /dev/shm is listed."""
    import psutil

    heap = psutil.heap_info()
    maps = text("/proc/self/maps").splitlines()
    left = segments.left() if segments is not None else []
    return {
        "threads": _sorted(_threads()),
        "descriptors": _sorted(_descriptors()),
        "children": _sorted(_children()),
        "mappings": _sorted(_mappings(maps)),
        "shared_memory": [Held(path, "shared memory segment") for path in left],
        "anonymous_bytes": _anonymous_bytes(maps),
        "heap_bytes": heap.heap_used + heap.mmap_used,
        "python_blocks": sys.getallocatedblocks(),
        "rss_bytes": int(text("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE"),
    }


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
    users = [line for line in lines if not line[0].startswith((*_LIBRARIES, _HARNESS, "<frozen"))]
    if users:
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
    for pid in children("self"):
        comm = text(f"/proc/{pid}/comm").strip()
        if not comm:
            continue
        command = text(f"/proc/{pid}/cmdline").replace("\0", " ").strip()[:_COMMAND_SHOWN]
        # Python starts one at first use, for as long as the process lives.
        if "multiprocessing.resource_tracker" in command:
            continue
        detail = f"process {pid}: {command}" if command else f"process {pid}: ended, not waited for"
        yield Held(comm, "child process", detail)


def _mappings(maps: list[str]) -> Iterator[Held]:
    """Loaded libraries, one each; executable memory without a file; and all mapped files."""
    lines = [line.split(maxsplit=5) for line in maps]
    libraries = {line[5] for line in lines if len(line) == 6 and "x" in line[1] and line[4] != "0"}
    for path in libraries:
        yield Held(path, "executable mapping")
    for addresses, access, _, _, inode, *path in lines:
        if path and inode != "0":
            if path[0] not in libraries:
                kind = "memfd mapping" if path[0].startswith("/memfd:") else "mapped file"
                yield Held(path[0], kind, f"at {addresses}")
        elif "x" in access and not path:
            yield Held("anonymous executable mapping", "executable mapping", f"at {addresses}")


def _anonymous_bytes(maps: list[str]) -> int:
    """Address space mapped without a file, but for the heap that the allocator keeps."""
    total = 0
    for line in maps:
        addresses, _, _, _, inode, *path = line.split(maxsplit=5)
        if inode == "0" and not path:
            start, end = addresses.split("-")
            total += int(end, 16) - int(start, 16)
    return total
