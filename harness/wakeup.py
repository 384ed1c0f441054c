"""Whether a thread that sleeps is about to wake by itself, because its time is up.

`time.sleep(0)` really sleeps: until the kernel's timer comes, which it puts off by the timer slack,
and by as much more as the machine is busy with other things. Who waits in a loop of such sleeps is
asleep at nearly every look, and may be so at two looks without a run in between.

The kernel tells what a sleeping thread has called, and with what (proc(5), `syscall`). The time it
sleeps until is then read where the call was pointed at.
"""

from __future__ import annotations

import os
import platform
import struct
import time

from harness.tasks import read

_SLACK_NS = 50_000
"""by which a timer may come later than it was asked to (prctl(2), PR_SET_TIMERSLACK)"""
_NANOSLEEP, _CLOCK_NANOSLEEP, _FUTEX = {
    "x86_64": (b"35", b"230", b"202"),
    "aarch64": (b"101", b"115", b"98"),
}.get(platform.machine(), (b"", b"", b""))
_TIMER_ABSTIME = 1
# futex(2): the operations that wait, and the flag that has the time on the wall's clock. What
# waits with a bit set, as glibc's locks do, waits until a time; plain FUTEX_WAIT for so long.
_FUTEX_WAIT, _FUTEX_WAIT_BITSET = 0, 9
_FUTEX_COMMAND, _FUTEX_CLOCK_REALTIME = 0x7F, 256
_TIMESPEC = struct.Struct("qq")
_SECOND_NS = 10**9


def about_to_wake(task: bytes) -> bool:
    """Whether a sleeping thread's time is up, but for the timer's slack.

    True only if it is seen to be: not where the kernel doesn't tell what a thread has called. What
    a thread said that has run since means nothing; look whether it has.
    """
    try:
        call, *words = read(task, b"syscall").split()
        at, clock = _until(call, [int(word, 16) for word in words])
        if not at:
            return False  # it waits without end
        left = _time_at(at) - (0 if clock is None else time.clock_gettime_ns(clock))
    except (OSError, ValueError, OverflowError, struct.error):
        # It runs, it has ended, it waits for something else, or the kernel doesn't tell.
        return False
    return left <= _SLACK_NS


def _until(call: bytes, words: list[int]) -> tuple[int, int | None]:
    """Where the time lies that a call waits for, and the clock of it; None: from now on.

    Raises ValueError for a call that waits for something else.
    """
    first, second, third, fourth, *_ = words
    if call == _CLOCK_NANOSLEEP:
        return third, first if second & _TIMER_ABSTIME else None
    if call == _NANOSLEEP:
        return first, None
    command = second & _FUTEX_COMMAND
    if call == _FUTEX and command == _FUTEX_WAIT:
        return fourth, None
    if call == _FUTEX and command == _FUTEX_WAIT_BITSET:
        on_wall = second & _FUTEX_CLOCK_REALTIME
        return fourth, time.CLOCK_REALTIME if on_wall else time.CLOCK_MONOTONIC
    raise ValueError(f"system call {call!r}")


def _time_at(address: int) -> int:
    """The time that lies there, in nanoseconds. Raises OSError if there is none, or no longer."""
    # Not read in place: the thread whose stack this is may have ended.
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        seconds, nanoseconds = _TIMESPEC.unpack(os.pread(memory, _TIMESPEC.size, address))
    finally:
        os.close(memory)
    return int(seconds) * _SECOND_NS + int(nanoseconds)
