"""Samples a process until it ends, the time is over, or somebody interrupts."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Literal

import psutil

from harness.errors import UsageError
from harness.watch.sample import Beside, NoPermissionError, Sample, Tree

Ending = Literal["ended", "duration", "interrupted", "no-permission"]
Observe = Callable[[Sample], None]

GRACE_S = 5.0
"""between asking a process to end and killing it"""
FIRST_INTERVAL = 0.05
"""seconds between samples, where nothing is said"""
MOST_SAMPLES = 2048
"""then every second one is dropped, and the interval doubled: a watch may take days"""
_STDERR = 2


@dataclass(slots=True)
class Seen:
    """What was seen of a process."""

    interval: float
    """seconds between the last samples"""
    samples: list[Sample] = field(default_factory=list)
    ending: Ending = "ended"
    exit_code: int | None = None
    """of a command that was started here and ended by itself; -N if by signal N"""
    reason: str = ""
    """why it may not be watched"""
    unreadable: tuple[str, ...] = ()
    """descendants that could not be read"""


def attach(pid: int, interval: float | None, duration: float | None, observe: Observe) -> Seen:
    """Watch a process that runs. It is left alone. Raises UsageError if there is none."""
    tree = Tree(pid)

    def wait(seconds: float) -> bool:
        try:
            tree.root.wait(max(seconds, 0.001))
        except psutil.TimeoutExpired:
            return False
        return True

    with _interruptible():
        return _watch(tree, wait, interval, duration, observe)


def run(
    command: Sequence[str],
    interval: float | None,
    duration: float | None,
    observe: Observe,
    *,
    beside: Beside | None = None,
) -> Seen:
    """Start a command, watch it, and see to it that it has ended; what it prints goes to stderr.

    Processes of which `beside` is true are neither counted nor told to end, and then the command
    gets a session of its own, so that the terminal's Ctrl-C does not end them either. Raises
    UsageError if it can't be started.
    """
    with _interruptible():
        try:
            process = subprocess.Popen(
                command, stdout=_STDERR, start_new_session=beside is not None
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(
                f"{command[0]!r} can't be started ({reason}): check its name and path"
            ) from None

        def wait(seconds: float) -> bool:
            try:
                process.wait(max(seconds, 0))
            except subprocess.TimeoutExpired:
                return False
            return True

        tree = Tree(process.pid, beside)
        try:
            seen = _watch(tree, wait, interval, duration, observe)
        finally:
            by_itself = process.poll() is not None
            _end(tree, wait)
        if by_itself:
            seen.exit_code = process.returncode
        return seen


def _watch(
    tree: Tree,
    wait: Callable[[float], bool],
    interval: float | None,
    duration: float | None,
    observe: Observe,
) -> Seen:
    """Sample until something ends it. `wait` waits so long, and says whether the root has ended.

    Without an interval, samples become fewer the longer it takes.
    """
    seen = Seen(FIRST_INTERVAL if interval is None else interval)
    started = time.monotonic()
    due = 0.0
    try:
        while True:
            now = time.monotonic() - started
            if duration is not None and now >= duration:
                seen.ending = "duration"
                break
            if (sample := tree.sample(now)) is not None:
                seen.samples.append(sample)
                observe(sample)
            if interval is None and len(seen.samples) >= MOST_SAMPLES:
                del seen.samples[1::2]
                seen.interval *= 2
            # A sample that took too long is not made up for.
            due = max(due + seen.interval, now)
            until = due if duration is None else min(due, duration)
            if wait(until - (time.monotonic() - started)):
                break
    except KeyboardInterrupt:
        seen.ending = "interrupted"
    except NoPermissionError as error:
        seen.ending, seen.reason = "no-permission", str(error)
    seen.unreadable = tuple(sorted(tree.unreadable))
    return seen


def _end(tree: Tree, wait: Callable[[float], bool]) -> None:
    """Ask all to end, and kill those that don't; at once if somebody interrupts again."""
    there = tree.processes()
    with contextlib.suppress(KeyboardInterrupt):
        _signal(there, signal.SIGTERM)
        psutil.wait_procs([each for each in there if each != tree.root], GRACE_S)
        wait(GRACE_S)
    _signal(there, signal.SIGKILL)
    wait(GRACE_S)


def _signal(processes: Sequence[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        # One that has ended, or has become another user's, is not ours to end.
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.send_signal(number)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and SIGINT interrupt, also where a shell started this in the background."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
