"""Wait until every other thread of this process is asleep with nothing to do.

A thread that wants the interpreter lock sleeps too, as far as the kernel can tell. So one look is
not enough: between two looks this thread sleeps and thereby offers the lock. Who is still asleep
then, and has not run for one nanosecond in between, had nothing to run for.
"""

from __future__ import annotations

import os
import threading
import time

_TASKS = "/proc/self/task"
_OFFER_S = 50e-6
_LONGEST_OFFER_S = 2e-3
_ASLEEP = (b"S", b"I")


class NotQuiescentError(Exception):
    """A thread of the backend never rests, so no step has an end."""


def wait_quiescent(patience_s: float) -> None:
    """Return once all other threads rest.

    Raises NotQuiescentError, naming those that don't, after `patience_s` seconds.
    """
    own = str(threading.get_native_id())
    deadline = time.monotonic() + patience_s
    before, pause = _look(own), _OFFER_S
    while before != {}:
        time.sleep(pause)
        # Each look leaves records in the trace and takes the interpreter lock: the longer it
        # takes, the less often.
        pause = min(pause * 1.2, _LONGEST_OFFER_S)
        now = _look(own)
        if now is not None and now == before:
            return
        before = now
        if time.monotonic() > deadline:
            raise NotQuiescentError(f"threads that never rest: {', '.join(_busy(own))}")


def _look(own: str) -> dict[str, bytes] | None:
    """Time on the processor by thread, None if one is not asleep."""
    counters = {}
    for task in os.listdir(_TASKS):
        if task == own:
            continue
        state = _read(f"{_TASKS}/{task}/stat")
        # The name, in parentheses, may itself hold spaces and parentheses.
        if state and state[state.rindex(b")") + 2 :][:1] not in _ASLEEP:
            return None
        counters[task] = _read(f"{_TASKS}/{task}/schedstat")
    return counters


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return b""  # the thread has ended since it was listed
    try:
        return os.read(descriptor, 512)
    except ProcessLookupError:
        return b""
    finally:
        os.close(descriptor)


def _busy(own: str) -> list[str]:
    """Names of the threads that are awake, or all others if none is just now."""
    names = {str(thread.native_id): thread.name for thread in threading.enumerate()}
    tasks = [task for task in os.listdir(_TASKS) if task != own]
    awake = [
        task
        for task in tasks
        if (state := _read(f"{_TASKS}/{task}/stat")) and state[state.rindex(b")") + 2 :][:1] == b"R"
    ]
    return [names.get(task, f"native thread {task}") for task in awake or tasks]
