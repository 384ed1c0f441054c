"""The helper processes that runs are forked from, as their parent sees them (see zygote.py)."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Protocol

from harness.errors import SETUP, UsageError
from harness.interrupts import held_back
from harness.spec import FAREWELL

PINNED_ENVIRONMENT = {
    # glibc raises its mmap threshold when a mapped block is freed, so that equal requests go to
    # the heap in one step and to a mapping in the next. Setting it turns that off. This is the
    # highest that glibc takes; at its initial 128 KiB, every activation of a network is mapped,
    # cleared and unmapped by the kernel (measured: 2.4 times the time of a plain run).
    "MALLOC_MMAP_THRESHOLD_": "33554432",
    # Nor is the top of the heap given back and taken again.
    "MALLOC_TRIM_THRESHOLD_": "1073741824",
    # A thread's cache keeps freed blocks in use as far as heap statistics can tell. And what was
    # freed to a fast bin is not joined with its neighbours, so that the sizes that later blocks
    # get depend on addresses: live bytes of a clean backend then rose by 240 to 1,888 now and
    # then (sync, espcn), and by nothing at all without fast bins.
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0",
    # Sets and dicts of strings resize by the order of their hashes.
    "PYTHONHASHSEED": "0",
}
DEFAULT_ENVIRONMENT = {
    # Thread pools that numpy and torch would start on import could not be forked. A backend that
    # wants more threads says so to torch.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # A backend that wants more gets a pool whose threads spin for a while after each call, and no
    # step ends before they sleep: with two threads of torch's, verify of one convolution took 26 to
    # 34 s, and 8 to 10 with threads that sleep at once.
    "OMP_WAIT_POLICY": "passive",
}

_START_TIMEOUT = 120.0
_STOP_TIMEOUT = 2.0
_SESSION = secrets.token_hex(4)
"""Where processes in containers share a folder for temporary files, their numbers may be alike."""


def run_folders() -> str:
    """What the paths of all folders of this process's runs begin with, and of no other's."""
    return os.path.join(tempfile.gettempdir(), f"steadyframe-{os.getpid()}-{_SESSION}-")


class ZygoteEndedError(RuntimeError):
    """The helper process is gone."""


class Process(Protocol):
    """What is needed of a subprocess.Popen."""

    @property
    def stdin(self) -> IO[bytes] | None: ...
    @property
    def stdout(self) -> IO[bytes] | None: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def kill(self) -> None: ...


class Zygote:
    """One helper process, serving one run at a time."""

    def __init__(self) -> None:
        self._process: Process = self._begin()
        self._ready = False

    def _begin(self) -> Process:
        if find_spec("torch") is None:
            raise UsageError(f"torch is not installed, and each run has it at hand: {SETUP}")
        environment = {**DEFAULT_ENVIRONMENT, **os.environ, **PINNED_ENVIRONMENT}
        package_root = str(Path(__file__).parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join(
            part for part in (package_root, os.environ.get("PYTHONPATH")) if part
        )
        # A session of its own: Ctrl-C on the terminal reaches the parent alone, which then closes
        # the pipe; and the folder to start in is one that a run can't shadow modules from.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.zygote", run_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            bufsize=0,
        )

    def start(self, folder: Path) -> int:
        """Fork a child for the run in `folder` and return its process id."""
        assert self._process.stdin is not None
        self._process.stdin.write(os.fsencode(folder) + b"\n")
        if not self._ready:
            self._expect("ready", _START_TIMEOUT)
            self._ready = True
        return int(self._expect("pid", _START_TIMEOUT))

    def poll(self, seconds: float) -> int | None:
        """Wait for the child's end, at most so long: its status as from waitpid, or None."""
        if not select.select([self._stdout], [], [], seconds)[0]:
            return None
        try:
            return int(self._expect("exit", 0))
        except ZygoteEndedError:
            return signal.SIGKILL  # its child was killed with it

    @property
    def descriptors(self) -> tuple[int, int]:
        """This process's ends of the pipes: the helper ends when the first is closed everywhere."""
        assert self._process.stdin is not None
        return self._process.stdin.fileno(), self._stdout.fileno()

    @property
    def ended(self) -> bool:
        """Whether something has killed it."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the zygote and whatever it runs."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # something has killed it
            self._process.stdin.write(FAREWELL)
        self._process.stdin.close()
        # One that serves a run ends it, and what that has started, at once. One that still imports
        # would have to look up first, and has nothing to end.
        if not self._ready:
            self._process.kill()
        try:
            self._process.wait(_STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def _expect(self, word: str, seconds: float) -> str:
        if not select.select([self._stdout], [], [], seconds)[0]:
            raise RuntimeError(f"the helper process did not say '{word}' within {seconds:.0f} s")
        got, _, value = self._stdout.readline().decode().strip().partition(" ")
        if not got:
            self._process.wait()
            raise ZygoteEndedError("the helper process ended: see its stderr above")
        if got != word:
            raise RuntimeError(f"the helper process said '{got}', not '{word}'")
        return value


class _Pool:
    """Helpers that are alike."""

    def __init__(self, start: Callable[[], Zygote]) -> None:
        self._start = start
        self._idle: list[Zygote] = []
        self._busy: list[Zygote] = []

    def fill(self, helpers: int) -> None:
        """Have so many of them."""
        with held_back(), _lock:
            while len(self._idle) + len(self._busy) < helpers:
                self._idle.append(self._started())

    def all(self) -> list[Zygote]:
        """Those that run something, and those that don't."""
        return [*self._idle, *self._busy]

    def stop(self) -> None:
        """End them and whatever they run."""
        with _lock:
            stopping = self.all()
            self._idle.clear()
            self._busy.clear()
        for zygote in stopping:
            zygote.stop()

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[Zygote]:
        """A helper for one run; one that did not come through it is ended, not used again."""
        with held_back(), _lock:
            zygote = self._idle.pop() if self._idle else self._started()
            if zygote.ended:  # something has killed it
                zygote.stop()
                zygote = self._started()
            self._busy.append(zygote)
        try:
            yield zygote
        except BaseException:
            # Whatever went wrong, Ctrl-C included, must not leave a child running.
            with _lock:
                mine = zygote in self._busy  # else all were shut down meanwhile
                if mine:
                    self._busy.remove(zygote)
            if mine:
                zygote.stop()
            raise
        with _lock:
            if zygote in self._busy:
                self._busy.remove(zygote)
                self._idle.append(zygote)

    def _started(self) -> Zygote:
        atexit.register(shutdown)
        return self._start()


_lock = threading.Lock()
_fresh = _Pool(Zygote)
_others: dict[str, _Pool] = {}
"""by the target whose runs they make"""


def prestart(helpers: int = 1) -> None:
    """Begin to start helper processes, so that they import torch while the caller prepares."""
    _fresh.fill(helpers)


def shutdown() -> None:
    """End all helper processes and whatever they run. The next run starts another."""
    atexit.unregister(shutdown)
    for pool in [_fresh, *_others.values()]:
        pool.stop()


def borrowed(target: str) -> contextlib.AbstractContextManager[Zygote]:
    """A helper for one run of a target."""
    return _others.get(target, _fresh).borrowed()


@contextlib.contextmanager
def helpers_of(target: str, start: Callable[[], Zygote], helpers: int) -> Iterator[None]:
    """Have the runs of one target made by helpers of its own, as long as the context is open."""
    pool = _others[target] = _Pool(start)
    try:
        pool.fill(helpers)
        yield
    finally:
        del _others[target]
        pool.stop()


def descriptors() -> list[int]:
    """This process's ends of the pipes to all helpers."""
    zygotes = (zygote for pool in (_fresh, *_others.values()) for zygote in pool.all())
    return [descriptor for zygote in zygotes for descriptor in zygote.descriptors]
