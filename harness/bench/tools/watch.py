"""Watch a process that may hang, and clear up after it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

import psutil

IDLE_S = 10.0
"""a process that uses no processor time for so long hangs"""
_LOOK_S = 0.25
_SHELL = 128


def watch(process: int, ended: Callable[[float], bool], limit_s: float) -> str:
    """Wait for a process; kill it if it hangs, or after the limit, and say which.

    `ended` waits for so many seconds at the most, and tells whether it has ended.
    """
    started = idle_since = time.monotonic()
    used = -1.0
    while not ended(_LOOK_S):
        now, before = time.monotonic(), used
        used = _used(process)
        if used != before:
            idle_since = now
        hangs = now - idle_since > IDLE_S
        if hangs or now - started > limit_s:
            _signal(process, signal.SIGKILL)
            return "hung" if hangs else f"did not end in {limit_s:.0f} s"
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
        return -1.0
