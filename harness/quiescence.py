"""Wait until every other thread of this process is asleep with nothing to do.

A thread that wants the interpreter lock sleeps too, as far as the kernel can tell. So one look is
not enough: between two looks this thread sleeps and thereby offers the lock. Who is still asleep
then, and has not run for one nanosecond in between, had nothing to run for. Nor has who is asleep
and has not run since the last time that all were at rest: then one look is enough.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time

_TASKS = "/proc/self/task"
_LINKS_ALONE = 3
"""links of that folder when this is the only thread: two, and one for each"""
_OFFER_S = 50e-6
_LONGEST_OFFER_S = 2e-3
_LOOKS = 16
"""A wait is longer than need be by a part of this at the most, up to _LONGEST_OFFER_S."""
_CERTAIN = 0.875
"""the part of a wait that is slept through at once"""
_LONGEST_EXPECTED_S = 0.1
_ASLEEP = (b"S", b"I")


class NotQuiescentError(Exception):
    """A thread of the backend never rests, so no step has an end."""


def wait_quiescent(patience_s: float) -> None:
    """Return once all other threads rest.

    Raises NotQuiescentError, naming those that don't, after `patience_s` seconds.
    """
    global _at_rest, _expected_s
    if os.stat(_TASKS).st_nlink == _LINKS_ALONE:
        _at_rest = {}
        return
    before = _look()
    if before is not None and (not before or before == _at_rest):
        _at_rest = before
        return
    started = time.monotonic()
    if before is None:
        # One step takes about as long as the one before.
        time.sleep(_expected_s * _CERTAIN)
        before = _look()
    waited = time.monotonic() - started
    while True:
        # Each look leaves records in the trace and takes the interpreter lock: the longer it has
        # taken, the less often. But who is asleep now may well be at rest.
        at_work = before is None
        time.sleep(min(max(_OFFER_S, waited / _LOOKS), _LONGEST_OFFER_S) if at_work else _OFFER_S)
        now = _look()
        if now is not None and now == before:
            _at_rest = now
            _expected_s = min(waited, _LONGEST_EXPECTED_S)
            return
        before = now
        waited = time.monotonic() - started
        if waited > patience_s:
            raise NotQuiescentError(f"threads that never rest: {', '.join(_busy())}")


_expected_s = 0.0
"""how long the last wait took that was one"""
_at_rest: dict[bytes, bytes] = {}
"""Time on the processor by thread when all were last at rest."""


def _look() -> dict[bytes, bytes] | None:
    """Time on the processor by thread, None if one is not asleep."""
    own = b"%d" % threading.get_native_id()
    counters = {}
    for task in _tasks():
        if task == own:
            continue
        state = _read(b"/proc/self/task/%b/stat" % task)
        # The name, in parentheses, may itself hold spaces and parentheses.
        if state and state[state.rindex(b")") + 2 :][:1] not in _ASLEEP:
            return None
        counters[task] = _read(b"/proc/self/task/%b/schedstat" % task)
    return counters


# os.listdir takes 32 KiB from malloc for a moment. While it has them, a thread of the backend's
# that reads the heap (harness.instruments.lines) would take them for its own line's.
_getdents = ctypes.CDLL(None, use_errno=True).getdents64
_getdents.restype = ctypes.c_ssize_t
_getdents.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_ENTRIES = bytearray(32768)
_ENTRIES_AT = ctypes.addressof(ctypes.c_char.from_buffer(_ENTRIES))
_LENGTH_AT = 16
"""where a directory entry of the kernel's has its length; then follow its type and its name"""
_NAME_AT = 19


def _tasks() -> list[bytes]:
    """The numbers of all threads of this process."""
    names = []
    folder = os.open(_TASKS, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while (filled := _getdents(folder, _ENTRIES_AT, len(_ENTRIES))) > 0:
            at = 0
            while at < filled:
                name = ctypes.string_at(_ENTRIES_AT + at + _NAME_AT)
                if not name.startswith(b"."):
                    names.append(name)
                at += int.from_bytes(_ENTRIES[at + _LENGTH_AT : at + _LENGTH_AT + 2], "little")
    finally:
        os.close(folder)
    return names


def _read(path: bytes) -> bytes:
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


def _busy() -> list[str]:
    """Names of the threads that are awake, or all others if none is just now."""
    names = {str(thread.native_id): thread.name for thread in threading.enumerate()}
    tasks = [task for task in os.listdir(_TASKS) if task != str(threading.get_native_id())]
    awake = [
        task
        for task in tasks
        if (state := _read(f"{_TASKS}/{task}/stat".encode()))
        and state[state.rindex(b")") + 2 :][:1] == b"R"
    ]
    return [names.get(task, f"native thread {task}") for task in awake or tasks]
