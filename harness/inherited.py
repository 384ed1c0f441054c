"""Factories that no fresh process can import: closures, lambdas, what a test makes in its body.

Their runs are made by forks of this process, in which such a factory lives. That has its price,
which the report names: of this process's threads none is in the fork; what it holds (memory,
descriptors, modules, settings of libraries) is; the allocator can't be pinned as a fresh process's
is, so that the heap is not judged, and memory taken through a function pointer is not seen.

A helper is forked once, by the thread that asks, before any run; it then forks the runs (see
harness.zygote). So no run begins while another thread of this process holds a lock.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import IO, Any, NoReturn

from harness import targets, zygote, zygotes
from harness.errors import UsageError

NOTE = (
    "no fresh process can import the factory, so that all runs are forks of the one it was made "
    "in: they inherit its memory and have none of its threads; malloc is not pinned, and so growth "
    "of the heap that the trace doesn't see is not judged"
)
UNPINNED = "glibc, not pinned"
"""what the environment of such a run calls its allocator"""

_PREFIX = "inherited:"
_PRELOAD = ("numpy", "memray", "harness.child")
_POLL_S = 0.01
# <malloc.h>, with the values of harness.zygotes.PINNED_ENVIRONMENT; that of tcache can't be set.
_MALLOC_OPTIONS = {1: 0, -1: 1 << 30, -3: 1 << 25}
"""M_MXFAST, M_TRIM_THRESHOLD and M_MMAP_THRESHOLD"""

_numbers = itertools.count(1)
_factories: dict[str, Callable[..., Any]] = {}
"""by target"""


def is_inherited(target: str) -> bool:
    """Whether a target is known in this process alone, and in its forks."""
    return target.startswith(_PREFIX)


def factory_of(target: str) -> Callable[..., Any]:
    """The factory that a target stands for, in a fork of the process that has it."""
    return _factories[target]


@contextlib.contextmanager
def reachable(factory: str | Callable[..., Any], helpers: int) -> Iterator[tuple[str, str]]:
    """A target as it is shown, and as runs are to know it, while the context is open.

    So many helpers are started for it. Raises UsageError for what is no target.
    """
    if not isinstance(factory, str) and not callable(factory):
        raise UsageError(f"a {type(factory).__name__} is no factory: give what makes the backend")
    name = factory if isinstance(factory, str) else targets.name_of(factory)
    if name is not None:
        zygotes.prestart(helpers)
        yield name, targets.resolve(name)
        return
    assert not isinstance(factory, str)
    # How a memray tracker that is on shows: it watches the names that threads are given.
    if "_name" in vars(threading.Thread):
        raise UsageError(
            "a memray tracker is on in this process (a block, or pytest-memray's), and its forks "
            f"can't have another: end it first, or move {targets.description(factory)} to the top "
            "of its module"
        )
    target = f"{_PREFIX}{next(_numbers)}"
    _factories[target] = factory
    try:
        with zygotes.helpers_of(target, _ForkedZygote, helpers):
            yield targets.description(factory), target
    finally:
        del _factories[target]


class _ForkedZygote(zygotes.Zygote):
    """A helper that is a fork of this process."""

    def _begin(self) -> zygotes.Process:
        return _Fork()


class _Fork:
    """A fork of this process that serves runs, with what is needed of a subprocess.Popen."""

    def __init__(self) -> None:
        for name in _PRELOAD:  # here and once, rather than in each fork
            importlib.import_module(name)
        foreign, folders = zygotes.descriptors(), zygotes.run_folders()
        requests, ours = os.pipe()
        theirs, replies = os.pipe()
        sys.stdout.flush()  # or both processes would write what is buffered
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of 3.12: there are threads
            self._pid = os.fork()
        if self._pid == 0:
            _serve(requests, replies, [*foreign, ours, theirs], folders)
        os.close(requests)
        os.close(replies)
        self.stdin: IO[bytes] = os.fdopen(ours, "wb", buffering=0)
        self.stdout: IO[bytes] = os.fdopen(theirs, "rb", buffering=0)
        self._status: int | None = None

    def poll(self) -> int | None:
        """The exit code if it has ended."""
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if until is not None and time.monotonic() > until:
                raise subprocess.TimeoutExpired("a fork of this process", timeout or 0)
            time.sleep(_POLL_S)
        return status

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            os.kill(self._pid, signal.SIGKILL)


def _serve(requests: int, replies: int, foreign: list[int], folders: str) -> NoReturn:
    """Become a helper. Nothing of what this process would still have done is done here."""
    try:
        os.setsid()  # Ctrl-C is the parent's, which then closes the pipe
        for descriptor in foreign:
            os.close(descriptor)
        # A test runner replaces these; in a run they are the run's own files.
        sys.stdin = open(os.devnull)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115
        # What watches each line, such as coverage or a debugger, would allocate in its name.
        for quieten in (sys.settrace, sys.setprofile, threading.settrace, threading.setprofile):
            quieten(None)
        libc = ctypes.CDLL(None)
        for option, value in _MALLOC_OPTIONS.items():
            libc.mallopt(option, value)
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)  # the threads of its pool are not in a fork, which would wait
        zygote.serve(requests, replies, folders)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(70)
