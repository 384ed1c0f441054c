"""Reading /proc of processes and threads that may end at any moment."""

from __future__ import annotations

import os
from pathlib import Path


def descendants() -> list[str]:
    """Process ids of all below this process, started from whichever thread."""
    found: list[str] = []
    waiting = [str(os.getpid())]
    while waiting:
        parent = waiting.pop()
        below = children(parent)
        found += below
        waiting += below
    return found


def children(pid: str) -> list[str]:
    """Process ids of a process's children."""
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [child for task in tasks for child in text(f"/proc/{pid}/task/{task}/children").split()]


def text(path: str) -> str:
    """A file of /proc; empty if what it tells of has ended since it was listed."""
    try:
        return Path(path).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def state(pid: str) -> str:
    """The letter of a process's state, such as Z of one that nobody has waited for; empty if it is
    gone."""
    # "14108 (a name) S 1 ...", in which the name may hold anything.
    return text(f"/proc/{pid}/stat").rpartition(")")[2].strip()[:1]
