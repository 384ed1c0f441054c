"""A thread whose timer is due is about to run, however long the kernel puts the timer off."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from harness.quiescence import NotQuiescentError, wait_quiescent
from harness.wakeup import about_to_wake

_LIBC = ctypes.CDLL(None)
_PR_SET_TIMERSLACK = 29
_SLACK_NS = 200_000_000


class Sleeper:
    """A thread that makes the same call for ever, with timers that may come late by its slack."""

    def __init__(self, call: Callable[[], object], slack_ns: int) -> None:
        self._call, self._slack_ns = call, slack_ns
        self._stop = False
        self._begun = threading.Event()
        self.thread = threading.Thread(target=self._run, name="sleeper")
        self.thread.start()
        self._begun.wait()

    def _run(self) -> None:
        assert _LIBC.prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(self._slack_ns), 0, 0, 0) == 0
        self._begun.set()
        while not self._stop:
            self._call()

    @property
    def task(self) -> bytes:
        return b"%d" % (self.thread.native_id or 0)

    def end(self) -> None:
        self._stop = True
        self.thread.join()


@contextmanager
def sleeper(call: Callable[[], object], slack_ns: int = _SLACK_NS) -> Iterator[Sleeper]:
    made = Sleeper(call, slack_ns)
    try:
        yield made
    finally:
        made.end()


def locked() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


LOCK = locked()

DUE: dict[str, Callable[[], object]] = {
    "time.sleep of nothing": lambda: time.sleep(0),
    "time.sleep of a microsecond": lambda: time.sleep(1e-6),
    "usleep": lambda: _LIBC.usleep(1),
    "a lock with a time-out": lambda: LOCK.acquire(timeout=1e-6),
}
NOT_DUE: dict[str, Callable[[], object]] = {
    "time.sleep": lambda: time.sleep(0.5),
    "usleep": lambda: _LIBC.usleep(500_000),
    "a lock with a time-out": lambda: LOCK.acquire(timeout=0.5),
}


@pytest.mark.parametrize("call", DUE.values(), ids=DUE)
def test_who_waits_in_a_loop_of_short_sleeps_never_rests(call: Callable[[], object]) -> None:
    # Were it not for the timer: asleep at each look, and without a run between most of them.
    with sleeper(call), pytest.raises(NotQuiescentError, match="sleeper"):
        wait_quiescent(0.2)


@pytest.mark.parametrize("call", NOT_DUE.values(), ids=NOT_DUE)
def test_who_sleeps_for_longer_rests(call: Callable[[], object]) -> None:
    with sleeper(call, slack_ns=50_000) as thread:
        time.sleep(0.05)
        assert not about_to_wake(thread.task)
        wait_quiescent(0.2)


def test_who_waits_without_end_rests() -> None:
    lock = locked()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    wait_quiescent(5)
    assert not about_to_wake(b"%d" % (thread.native_id or 0))
    lock.release()
    thread.join()


class Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def test_who_sleeps_by_the_processors_time_rests() -> None:
    clock = (~os.getpid() << 3) | 2  # of this process, by its number: negative, as no other is
    until = Timespec(int(time.process_time()) + 1, 0)
    arguments = (ctypes.c_int(clock), 1, ctypes.byref(until), None)
    thread = threading.Thread(target=_LIBC.clock_nanosleep, args=arguments, daemon=True)
    thread.start()
    time.sleep(0.05)
    assert thread.is_alive()
    assert not about_to_wake(b"%d" % (thread.native_id or 0))
    while thread.is_alive():
        sum(range(100_000))


def test_who_has_ended_does_not_wake() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    assert not about_to_wake(b"%d" % (thread.native_id or 0))
