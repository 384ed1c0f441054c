"""Wait until every other thread of this process is asleep with nothing to do.

A thread that wants the interpreter lock sleeps too, as far as the kernel can tell. So one look is
not enough: between two looks this thread sleeps and thereby offers the lock. Who is still asleep
then, and has not run for one nanosecond in between, had nothing to run for, unless it sleeps on a
timer that was to wake it by now. Nor has who is asleep and has not run since the last time that all
were at rest: then one look is enough.
"""

from __future__ import annotations

import os
import threading
import time
from array import array

from harness.tasks import FOLDER, read, state, tasks
from harness.wakeup import about_to_wake

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
    global _at_rest
    if os.stat(FOLDER).st_nlink == _LINKS_ALONE:
        _at_rest = {}
        return
    before = _look()
    if before is not None and (not before or before == _at_rest):
        _at_rest = before
        return
    started = time.monotonic()
    slept_on = False
    if before is None:
        # One step takes about as long as the one before.
        time.sleep(_expected_s[0] * _CERTAIN)
        before = _look()
        slept_on = before is not None
    waited = time.monotonic() - started
    while True:
        # Each look leaves records in the trace and takes the interpreter lock: the longer it has
        # taken, the less often. But who is asleep now may well be at rest.
        at_work = before is None
        time.sleep(min(max(_OFFER_S, waited / _LOOKS), _LONGEST_OFFER_S) if at_work else _OFFER_S)
        waking = before is not None and _any_about_to_wake(before)
        now = _look()
        if now is not None and now == before and not waking:
            _at_rest = now
            # Had it slept on, it would not know for how much too long: half of it is tried next.
            _expected_s[0] = min(waited / 2 if slept_on else waited, _LONGEST_EXPECTED_S)
            return
        before = now
        waited = time.monotonic() - started
        if waited > patience_s:
            raise NotQuiescentError(f"threads that never rest: {', '.join(_busy())}")


_expected_s = array("d", [0.0])
"""How long the last wait took that was one. A float would be an object of its own, or not: the
longest expected one is there already."""
_at_rest: dict[bytes, bytes] = {}
"""Time on the processor by thread when all were last at rest."""


def _look() -> dict[bytes, bytes] | None:
    """Time on the processor by thread, None if one is not asleep."""
    counters = {}
    for task in _others():
        if (doing := state(task)) and doing not in _ASLEEP:
            return None
        counters[task] = read(task, b"schedstat")
    return counters


def _any_about_to_wake(asleep: dict[bytes, bytes]) -> bool:
    """Whether the timer is due of one that has run since last all were at rest."""
    return any(about_to_wake(task) for task, ran in asleep.items() if ran != _at_rest.get(task))


def _others() -> list[bytes]:
    own = b"%d" % threading.get_native_id()
    return [task for task in tasks() if task != own]


def _busy() -> list[str]:
    """Names of the threads that are awake, or all others if none is just now."""
    names = {b"%d" % (thread.native_id or 0): thread.name for thread in threading.enumerate()}
    others = _others()
    awake = [task for task in others if state(task) == b"R"]
    return [names.get(task, f"native thread {task.decode()}") for task in awake or others]
