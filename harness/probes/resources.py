"""What the process holds: threads, descriptors, children, mappings, shared memory."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

KINDS = ("threads", "descriptors", "children", "mappings", "shared_memory")
"""The ledger's entries that are lists of names and must be given back."""


def snapshot() -> dict[str, Any]:
    """The ledger of this process now. Names are such that equal resources have equal names."""
    import psutil

    heap = psutil.heap_info()
    return {
        "threads": _threads(),
        "descriptors": _descriptors(),
        "children": _children(),
        "mappings": _mappings(),
        "shared_memory": _shared_memory(),
        "heap_bytes": heap.heap_used + heap.mmap_used,
        "python_blocks": sys.getallocatedblocks(),
        "rss_bytes": _resident_bytes(),
    }


def _threads() -> list[str]:
    names = {thread.native_id: thread.name for thread in threading.enumerate()}
    found = []
    for task in os.listdir("/proc/self/task"):
        name = names.get(int(task))
        if name is None:
            name = f"native thread '{_text(f'/proc/self/task/{task}/comm').strip()}'"
        found.append(name)
    return sorted(found)


def _descriptors() -> list[str]:
    """Targets of the open descriptors; of sockets and pipes just the kind: their numbers vary."""
    targets = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{entry}")
        except FileNotFoundError:
            continue  # the one that listed the folder
        targets.append(target.split("[")[0].rstrip(":") if target[0] != "/" else target)
    return sorted(targets)


def _children() -> list[str]:
    """Names of the child processes, started from whichever thread."""
    found = []
    for task in os.listdir("/proc/self/task"):
        for pid in _text(f"/proc/self/task/{task}/children").split():
            found.append(_text(f"/proc/{pid}/comm").strip() or "ended, not waited for")
    return sorted(found)


def _mappings() -> list[str]:
    """Files that are mapped executable (loaded libraries, JIT code), and writable shared files."""
    found = set()
    for line in _text("/proc/self/maps").splitlines():
        _, access, _, device, _, *path = line.split(maxsplit=5)
        if "x" in access and path and device != "00:00":
            found.add(path[0])
        elif "x" in access and not path:
            found.add(f"anonymous executable mapping at {line.split('-')[0]}")
        elif access.endswith("s") and "w" in access and path:
            found.add(path[0])
    return sorted(found)


def _shared_memory() -> list[str]:
    folder = Path("/dev/shm")  # noqa: S108 - this is where POSIX shared memory lives
    if not folder.is_dir():
        return []
    return sorted(str(entry) for entry in folder.iterdir())


def _resident_bytes() -> int:
    return int(_text("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # ended since it was listed
