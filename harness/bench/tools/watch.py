"""Watch a process that may hang, and clear up after it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator

import psutil

from harness.probes.proc import text

LIMIT_S = 150.0
"""of processor time, which a busy machine does not change; a run takes a few"""
IDLE_S = 10.0
"""a process hangs if all its threads are found asleep for so long; on a busy machine, one that has
something to do may wait as long, but is not asleep"""
_LOOK_S = 0.25
_SHELL = 128
_ASLEEP = ("S", "I")


def watch(process: int, ended: Callable[[float], bool]) -> str:
    """Wait for a process; kill it if it hangs, or at the limit, and say which.

    `ended` waits for so many seconds at the most, and tells whether it has ended.
    """
    busy_at = time.monotonic()
    while not ended(_LOOK_S):
        now, tree = time.monotonic(), _tree(process)
        if not all(map(_sleeps, tree)):
            busy_at = now
        hangs = now - busy_at > IDLE_S
        if hangs or sum(map(_used, tree)) > LIMIT_S:
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


def _tree(process: int) -> list[psutil.Process]:
    """The process and all below it; none if it ends just now."""
    with contextlib.suppress(psutil.NoSuchProcess):
        watched = psutil.Process(process)
        return [watched, *watched.children(recursive=True)]
    return []


def _sleeps(process: psutil.Process) -> bool:
    """Whether each of its threads does, or is no more."""
    stats = (stat.rpartition(")")[2].split() for stat in _stats(process.pid))
    return all(state[0] in _ASLEEP for state in stats if state)


def _stats(process: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            yield text(f"/proc/{process}/task/{task}/stat")


def _used(process: psutil.Process) -> float:
    """Seconds of processor time."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return sum(process.cpu_times()[:2])
    return 0.0
