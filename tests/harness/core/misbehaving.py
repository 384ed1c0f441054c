# ruff: noqa: ARG002 - signatures are given
"""Backends that misbehave in every way they can: on frame 4 of the first cycle, mostly."""

from __future__ import annotations

import ctypes
import itertools
import mmap
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any


class At:
    """Does as the name of the class says on its fifth frame."""

    def __init__(self) -> None:
        self._frames = 0

    def __call__(self, frame: Any) -> Any:
        self._frames += 1
        if self._frames == 5:
            self.misbehave()
        return frame

    def misbehave(self) -> None:
        raise NotImplementedError


class Segfault(At):
    def misbehave(self) -> None:
        ctypes.string_at(0)  # here: crash


class Abort(At):
    def misbehave(self) -> None:
        os.abort()


class OsExit(At):
    def misbehave(self) -> None:
        os._exit(3)


class SysExit(At):
    def misbehave(self) -> None:
        sys.exit("enough")


class Raises(At):
    def misbehave(self) -> None:
        raise ValueError("no [bold]good[/bold]\nsecond line")


class RaisesBase(At):
    def misbehave(self) -> None:
        class NoException(BaseException):
            pass

        raise NoException("not an Exception")


class Interrupts(At):
    def misbehave(self) -> None:
        raise KeyboardInterrupt


class UnprintableError(At):
    def misbehave(self) -> None:
        class UnprintableFaultError(Exception):
            def __str__(self) -> str:
                raise RuntimeError("no text")

        raise UnprintableFaultError


class Loops(At):
    def misbehave(self) -> None:
        any(number < 0 for number in itertools.count())  # here: loop


class Deadlocks(At):
    def misbehave(self) -> None:
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()  # here: deadlock


class Killed(At):
    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class Stopped(At):
    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class Forks(At):
    def misbehave(self) -> None:
        if os.fork() == 0:
            time.sleep(1000)


class ForksAndGoesOn(At):
    """Both processes go on with the run."""

    def misbehave(self) -> None:
        if os.fork() == 0:
            Path(os.environ["STEADYFRAME_FORKED"]).write_text("forked")


class Daemonizes(At):
    """A child that hides in a session of its own, its parent gone, deaf to signals."""

    def misbehave(self) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                    signal.signal(number, signal.SIG_IGN)
                time.sleep(1000)
            os._exit(0)
        os.wait()


class OwnTracker(At):
    def misbehave(self) -> None:
        import memray

        memray.Tracker(destination=memray.FileDestination("/dev/null", overwrite=True)).__enter__()


class ClosesAll(At):
    """Closes every descriptor above 2, the trace's too."""

    def misbehave(self) -> None:
        os.closerange(3, 1000)


class RemovesTrace(At):
    def misbehave(self) -> None:
        Path(os.readlink("/proc/self/fd/2")).with_name("trace.bin").unlink(missing_ok=True)


class ClosesOutput(At):
    def misbehave(self) -> None:
        if not sys.stdout.closed:
            sys.stdout.close()
            os.closerange(1, 3)


class Prints(At):
    def misbehave(self) -> None:
        for _ in range(20_000):
            print("x" * 100)
            print("y" * 100, file=sys.stderr)


class ChangesFolder(At):
    def misbehave(self) -> None:
        os.chdir("/")


class ChangesSignals(At):
    def misbehave(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN)


class ChangesSignalsAndLoops(ChangesSignals):
    def misbehave(self) -> None:
        super().misbehave()
        while True:
            pass


class ChangesPath(At):
    def misbehave(self) -> None:
        sys.path.clear()


class ChangesTrace(At):
    """A profiler, tracer and collector of its own."""

    def misbehave(self) -> None:
        import gc

        gc.enable()
        sys.settrace(lambda *_: None)
        sys.setprofile(lambda *_: None)
        threading.setprofile(lambda *_: None)


class UsesUpMemory(At):
    """Asks for more than there is, and is refused."""

    def misbehave(self) -> None:
        mmap.mmap(-1, 1 << 60)


class Spins(At):
    def misbehave(self) -> None:
        def spin() -> None:
            while True:
                time.sleep(0)

        threading.Thread(target=spin, daemon=True, name="spinner").start()


class LeavesStopped(At):
    """A stopped child process."""

    def misbehave(self) -> None:
        child = subprocess.Popen(["sleep", "1000"])
        child.send_signal(signal.SIGSTOP)


class WorkerDies:
    """Its thread raises; what was in flight never comes."""

    def __init__(self) -> None:
        self._in: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def _work(self) -> None:
        while (frame := self._in.get()) is not None:
            if frame.pts == 4:
                raise ValueError("the worker dies")

    def execute(self, frame: Any) -> None:
        self._in.put(frame)

    def get_result(self) -> Any:
        return None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self._in.put(None)
        self._thread.join()


class WorkerDiesAndFlushWaits(WorkerDies):
    def flush(self) -> None:
        threading.Event().wait()  # here: flush


class _Raises:
    def execute(self, frame: Any) -> None:
        pass

    def get_result(self) -> Any:
        return None

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class RaisesInOpen(_Raises):
    def __init__(self) -> None:
        raise OSError("no such model")  # in open


class RaisesInExecute(_Raises):
    def execute(self, frame: Any) -> None:
        raise OSError("no such model")  # in execute


class RaisesInGetResult(_Raises):
    def get_result(self) -> Any:
        raise OSError("no such model")  # in get_result


class RaisesInFlush(_Raises):
    def flush(self) -> None:
        raise OSError("no such model")  # in flush


class RaisesInClose(_Raises):
    def close(self) -> None:
        raise OSError("no such model")  # in close


def number() -> Any:
    return 3


def nothing() -> Any:
    return None


class HalfABackend:
    def execute(self, frame: Any) -> None:
        pass

    def get_result(self) -> Any:
        return None


class DyingObject:
    """Its methods are there, but asking for them raises."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


not_callable = 3
