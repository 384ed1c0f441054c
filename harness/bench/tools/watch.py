"""Watch a process that may hang, and clear up after it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

import psutil

LIMIT_S = 150.0
"""of processor time, which a busy machine does not change; a run takes a few"""
IDLE_S = 10.0
"""a process hangs if it uses next to no processor time for so long"""
_NEXT_TO_NONE_S = 0.1
_LOOK_S = 0.25
_SHELL = 128


def watch(process: int, ended: Callable[[float], bool]) -> str:
    """Wait for a process; kill it if it hangs, or at the limit, and say which.

    `ended` waits for so many seconds at the most, and tells whether it has ended.
    """
    busy_at, busy_used = time.monotonic(), 0.0
    while not ended(_LOOK_S):
        now, used = time.monotonic(), _used(process)
        if abs(used - busy_used) > _NEXT_TO_NONE_S:
            busy_at, busy_used = now, used
        hangs = now - busy_at > IDLE_S
        if hangs or used > LIMIT_S:
            _signal(process, signal.SIGKILL)
            return "hung" if hangs else f"used {LIMIT_S:.0f} s of processor time"
    return ""


def clear(group: int) -> None:
    """End what a process has left behind, that is its group; not Python's resource tracker, which
    takes no notice of this signal: it removes the shared memory that was left."""
    _signal(group, signal.SIGTERM)


def words(status: int) -> str:
    """How a process ended that did not do so well, else empty. `status` is a returncode, or that
    of a shell, which adds 128 to the number of a signal."""
    number = -status if status < 0 else status - _SHELL
    if number > 0:
        return f"crashed with {signal.Signals(number).name}"
    return f"exited with {status}" if status else ""


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _used(process: int) -> float:
    """Seconds of processor time, of the process and its children."""
    try:
        watched = psutil.Process(process)
        each = [watched, *watched.children(recursive=True)]
        return sum(sum(one.cpu_times()[:2]) for one in each)
    except psutil.NoSuchProcess:
        return 0.0  # it ends just now
