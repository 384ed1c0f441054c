"""A fresh process per run: starts the zygote, hands it runs, watches them, and cleans up."""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from harness import limits
from harness.flight import FlightRecorder, Position, failure
from harness.result import Failure
from harness.spec import PROGRESS, SPEC, STDERR, Outcome, RunSpec, read_outcome

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
}
DEFAULT_TIMEOUT = 60.0
"""Seconds without any progress after which a run counts as hung."""

_POLL = 0.05
_START_TIMEOUT = 120.0
_STOP_TIMEOUT = 2.0
_STDERR_TAIL = 4000
_DUMP_PAUSE = 0.2
_DUMP_LOOKS = 6


class Ended(msgspec.Struct, frozen=True):
    """How a run ended; its files are in `folder` as long as the context of `run` is open."""

    folder: Path
    outcome: Outcome | None
    failure: Failure | None


class ZygoteEndedError(RuntimeError):
    """The helper process is gone."""


class Zygote:
    """One helper process, serving one run at a time."""

    def __init__(self) -> None:
        environment = {**DEFAULT_ENVIRONMENT, **os.environ, **PINNED_ENVIRONMENT}
        package_root = str(Path(__file__).parent.parent)
        environment["PYTHONPATH"] = os.pathsep.join(
            part for part in (package_root, os.environ.get("PYTHONPATH")) if part
        )
        # A session of its own: Ctrl-C on the terminal reaches the parent alone, which then closes
        # the pipe; and the folder to start in is one that a run can't shadow modules from.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            bufsize=0,
        )
        self._ready = False

    def start(self, folder: Path) -> int:
        """Fork a child for the run in `folder` and return its process id."""
        assert self._process.stdin is not None
        # Told even before it is ready, so that it removes the folder if this process is killed.
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
    def ended(self) -> bool:
        """Whether something has killed it."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the zygote and whatever it runs."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        # One that serves a run ends it, and what that has started, at once. One that still imports
        # would look up only when it is done, and has nothing to end.
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


_idle: list[Zygote] = []
_busy: list[Zygote] = []
_pool = threading.Lock()


def prestart(helpers: int = 1) -> None:
    """Begin to start helper processes, so that they import torch while the caller prepares."""
    atexit.register(shutdown)
    with _pool:
        while len(_idle) + len(_busy) < helpers:
            _idle.append(Zygote())


def shutdown() -> None:
    """End all helper processes and whatever they run. The next run starts another."""
    atexit.unregister(shutdown)
    with _pool:
        stopping = [*_idle, *_busy]
        _idle.clear()
        _busy.clear()
    for zygote in stopping:
        zygote.stop()


@contextlib.contextmanager
def _borrowed() -> Iterator[Zygote]:
    """A helper for one run; one that did not come through it is ended, not used again."""
    prestart()
    with _pool:
        zygote = _idle.pop() if _idle else Zygote()
        if zygote.ended:  # something has killed it
            zygote.stop()
            zygote = Zygote()
        _busy.append(zygote)
    try:
        yield zygote
    except BaseException:
        # Whatever went wrong, Ctrl-C included, must not leave a child running.
        with _pool:
            mine = zygote in _busy  # else all were shut down meanwhile
            if mine:
                _busy.remove(zygote)
        if mine:
            zygote.stop()
        raise
    with _pool:
        if zygote in _busy:
            _busy.remove(zygote)
            _idle.append(zygote)


@contextlib.contextmanager
def run(spec: RunSpec, timeout: float, watch: Callable[[Position, Path], None]) -> Iterator[Ended]:
    """Run a child to its end. Its folder, with the trace, is removed when the context is left.

    Several runs may be on at once, each on a thread of the caller's. `watch` is called a few times
    a second while the child runs, with its position and the folder.
    """
    folder = Path(tempfile.mkdtemp(prefix="steadyframe-"))
    try:
        (folder / SPEC).write_bytes(msgspec.json.encode(spec))
        recorder = FlightRecorder(folder / PROGRESS, create=True)
        try:
            with _borrowed() as zygote:
                ended = _run(zygote, folder, recorder, timeout, watch)
        finally:
            recorder.close()
        yield _out_of_memory(ended, spec.memory_limit)
    finally:
        # The zygote removes it too, at any moment, when it is shut down.
        shutil.rmtree(folder, ignore_errors=True)


def _run(
    zygote: Zygote,
    folder: Path,
    recorder: FlightRecorder,
    timeout: float,
    watch: Callable[[Position, Path], None],
) -> Ended:
    child = zygote.start(folder)
    position, moved, hung = recorder.read(), time.monotonic(), False
    while (status := zygote.poll(_POLL)) is None:
        watch(recorder.read(), folder)
        if recorder.read() != position:
            position, moved = recorder.read(), time.monotonic()
        elif not hung and time.monotonic() - moved > timeout:
            hung = True
            _end_hung(child, folder / STDERR)
    outcome = read_outcome(folder)
    if outcome is not None and outcome.ended and not hung:
        return Ended(folder, outcome, outcome.failure)
    hung_for = timeout if hung else None
    return Ended(folder, outcome, _explain(folder, recorder.read(), status, hung_for))


def _out_of_memory(ended: Ended, memory_limit: int | None) -> Ended:
    """Name the cause of a crash whose last words were that there was no more memory."""
    failed = ended.failure
    if memory_limit is None or failed is None or failed.kind != "crashed":
        return ended
    if not limits.tells_exhaustion(failed.detail):
        return ended
    text = f"{failed.text}: out of memory, {limits.words(memory_limit)}"
    failed = msgspec.structs.replace(failed, kind="killed", text=text)
    return msgspec.structs.replace(ended, failure=failed)


def _end_hung(child: int, stderr: Path) -> None:
    """Let the child write where its threads are (see harness.child), then kill it."""
    with contextlib.suppress(ProcessLookupError):
        before = size = stderr.stat().st_size
        os.kill(child, signal.SIGUSR1)
        for _ in range(_DUMP_LOOKS):
            time.sleep(_DUMP_PAUSE)
            last, size = size, stderr.stat().st_size
            if before < last == size:
                break  # it has written, and writes no more
        os.kill(child, signal.SIGKILL)


def _explain(folder: Path, at: Position, status: int, hung_for: float | None) -> Failure:
    """Say why a child did not come to its end."""
    code = os.waitstatus_to_exitcode(status)
    if hung_for is not None:
        kind, what = "hung", f"made no progress for {hung_for:g} s and was ended"
    elif code == -signal.SIGKILL:
        kind, what = "killed", "was killed from outside, most often for memory"
    elif code < 0:
        kind, what = "crashed", f"crashed with {signal.Signals(-code).name}"
    else:
        kind, what = "exited", f"ended the process with exit code {code}"
    return failure(kind, f"the backend {what}", at, _stderr_tail(folder / STDERR))


def _stderr_tail(path: Path) -> str:
    """The end of what the child wrote to stderr, without the harness's part of stack dumps."""
    if not path.exists():
        return ""
    own = (f'File "{Path(__file__).parent}/', 'File "<frozen runpy>"')
    lines = path.read_text(errors="replace").splitlines()
    kept = (
        line
        for line in lines
        if not line.lstrip().startswith(own) and not line.startswith("Extension modules:")
    )
    return "\n".join(kept)[-_STDERR_TAIL:]
