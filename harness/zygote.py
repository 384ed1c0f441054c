"""The process that measured children are forked from, with torch already imported.

It reads one line per run from its standard input, the run's folder, forks, and writes
`pid N` and, when the child has ended, `exit STATUS` (as from waitpid) to its standard output.
When its standard input closes, because the parent ended in whatever way, it kills what is running,
removes the folder of the last run, and ends: no run outlives the command that asked for it. A
parent that goes on says farewell first; one that does not was killed, and then the folders of all
its runs are removed, those that no helper was told of yet included.

Why our own and not multiprocessing's forkserver: that one re-imports the caller's main module in
every child, and does not give us the child's session, its output, or its orphans.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import glob
import importlib
import os
import select
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NoReturn

from harness.spec import FAREWELL, STDERR, STDOUT

PRELOAD = ("numpy.random", "torch", "memray", "harness.child")
"""Imported before the first fork: what nearly every run needs and none measures."""

_LOOK_S = 0.1
_MUCH = 65536
"""bytes: what a pipe holds at the most"""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    """Serve runs until standard input closes."""
    requests, replies, folders = sys.stdin.fileno(), os.dup(sys.stdout.fileno()), sys.argv[1]
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with _ending_with_parent(requests, folders):
        for name in PRELOAD:
            importlib.import_module(name)
    serve(requests, replies, folders)


@contextlib.contextmanager
def _ending_with_parent(requests: int, folders: str) -> Iterator[None]:
    """Look up from seconds of importing now and then, and end if the parent has."""
    closed = select.poll()
    closed.register(requests, 0)  # that all others have closed a pipe is told unasked

    def look(*_: object) -> None:
        if closed.poll(0):
            lines = os.read(requests, _MUCH).splitlines(keepends=True)
            _end([] if lines[-1:] == [FAREWELL] else _all_of(folders))

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_S, _LOOK_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def serve(requests: int, replies: int, folders: str) -> NoReturn:
    """Serve the runs that are asked for at one descriptor until it closes, then end the process.

    `folders` is what the paths of all folders of the parent's runs begin with.
    """
    # Grandchildren that outlive their parent become ours, wherever they hide, and can be ended.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    gc.freeze()  # what is there now is no run's garbage: to look through it takes each one 0.1 s
    _tell(replies, "ready")
    mine: list[str] = []
    with os.fdopen(requests, "rb", closefd=False) as lines:
        for line in lines:
            if line == FAREWELL:
                break
            mine = [os.fsdecode(line.rstrip(b"\n"))]
            _serve(Path(mine[0]), requests, replies)
        else:
            mine = _all_of(folders)
    # The parent removes a run's folder when it has read it; but of the last, what still wrote into
    # it has only ended now.
    _end(mine)


def _all_of(folders: str) -> list[str]:
    return glob.glob(glob.escape(folders) + "*")


def _end(folders: Iterable[str]) -> NoReturn:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)  # to take torch down in good order takes half a second, and nobody needs it


def _serve(folder: Path, requests: int, replies: int) -> None:
    """Run one child to its end, which comes at once when the parent ends."""
    child = os.fork()
    if child == 0:
        _become_child(folder, replies)
    _tell(replies, f"pid {child}")
    if not _wait_for_end(child, requests):
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    _end_descendants()
    _tell(replies, f"exit {status}")


def _tell(replies: int, line: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the parent has gone, as the next read will show
        os.write(replies, f"{line}\n".encode())


def _wait_for_end(child: int, requests: int) -> bool:
    """True when the child ended, False when the parent did."""
    handle = os.pidfd_open(child)
    try:
        # The parent sends nothing while a run is on, so that readable input is its end.
        ready, _, _ = select.select([handle, requests], [], [])
        return handle in ready
    finally:
        os.close(handle)


def _end_descendants() -> None:
    """Kill and reap whatever the run left behind."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while pids := [int(pid) for pid in children.read_text().split()]:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become_child(folder: Path, replies: int) -> None:
    """Turn this fork into a measured child. Does not return."""
    status = 70
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # A daemon that the backend starts stays its child, and is seen as one left behind.
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        os.setsid()
        os.close(replies)
        for descriptor, path, flags in (
            (0, Path(os.devnull), os.O_RDONLY),
            (1, folder / STDOUT, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
            (2, folder / STDERR, os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        ):
            opened = os.open(path, flags, 0o600)
            os.dup2(opened, descriptor)
            os.close(opened)
        from harness import child

        child.main(folder)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
