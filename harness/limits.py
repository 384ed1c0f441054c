"""A bound on what a measured process may take, so that a runaway backend ends and not the machine.

It is a bound on address space, which the kernel enforces at the call that goes beyond it: Python
then raises MemoryError, torch RuntimeError, and native code that doesn't look may crash. Memory
that is only reserved counts too, such as the stack of each thread (8 MiB) and the heap that glibc
reserves for it (64 MiB).
"""

from __future__ import annotations

import mmap
import resource
from pathlib import Path

_MEASUREMENT = 96 << 20
"""bytes that the tracer and the harness may take beside: memray maps its file in large windows"""
_SIGNS = ("bad_alloc", "Cannot allocate memory", "can't allocate memory", "MemoryError")
"""how C++, libc, torch and Python say it in what they write before they end"""

_limited = False


def limit(more_bytes: int | None) -> None:
    """Let this process take so many bytes more than it has now; None is no limit."""
    global _limited
    if more_bytes is None:
        return
    _limited = True
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = _taken() + more_bytes + _MEASUREMENT
    # The soft one alone, so that it can be lifted when the failure has to be told.
    resource.setrlimit(resource.RLIMIT_AS, (bound if hard < 0 else min(bound, hard), hard))


def lift() -> None:
    """Take the limit away: what is still to be done is the harness's."""
    if not _limited:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def is_exhaustion(error: BaseException) -> bool:
    """Whether an exception says that there is no more memory."""
    return isinstance(error, MemoryError) or tells_exhaustion(str(error))


def tells_exhaustion(text: str) -> bool:
    """Whether the last words of a process say that there was no more memory."""
    return any(sign in text for sign in _SIGNS)


def words(more_bytes: int) -> str:
    """The limit as a part of a sentence."""
    return f"it may take {more_bytes / (1 << 20):,.4g} MiB more than at its start"


def _taken() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
