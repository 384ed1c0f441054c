"""What a tree of processes holds: sums, and what comes, goes, or may not be read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.errors import UsageError
from harness.watch.sample import NoPermissionError, Tree

MIB = 1 << 20
HOLDS = (
    "import sys, time; kept = b'1' * int(sys.argv[1])\nprint('ready', flush=True); time.sleep(60)"
)


@contextmanager
def started(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-S", "-c", code, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def test_memory_is_that_of_the_process() -> None:
    with started(HOLDS, str(50 * MIB)) as process:
        held = Tree(process.pid).sample(1.5)
        assert held is not None
        assert held.at == 1.5
        assert 50 * MIB < held.memory < 70 * MIB
        assert held.memory - MIB <= held.uss <= held.pss <= held.rss
        assert held.threads == held.processes == 1
        assert held.fds == 3


def test_what_is_shared_after_a_fork_is_counted_once() -> None:
    code = (
        "import os, sys, time; kept = b'1' * int(sys.argv[1]); child = os.fork()\n"
        "if child:\n print('ready', flush=True); os.wait()\n"
        "else:\n time.sleep(60)"
    )
    with started(code, str(50 * MIB)) as process:
        tree = Tree(process.pid)
        held = tree.sample(0)
        assert held is not None
        assert held.processes == 2
        assert 50 * MIB < held.memory < 70 * MIB
        assert held.rss > 100 * MIB
        for child in psutil.Process(process.pid).children():
            child.kill()


def test_children_that_come_and_go_are_counted_while_they_are_there() -> None:
    code = (
        "import subprocess, sys\nprint('ready', flush=True)\n"
        "while True: subprocess.run([sys.executable, '-S', '-c', 'pass'])"
    )
    with started(code) as process:
        tree = Tree(process.pid)
        seen = set()
        until = time.monotonic() + 20
        while len(seen) < 2 and time.monotonic() < until:
            held = tree.sample(0)
            assert held is not None
            seen.add(held.processes)
        assert seen >= {1, 2}


def test_an_ended_process_has_no_sample() -> None:
    with started(HOLDS, "1") as process:
        tree = Tree(process.pid)
        process.kill()
        # It is a zombie as long as nobody waits for it.
        until = time.monotonic() + 10
        while tree.sample(0) is not None and time.monotonic() < until:
            time.sleep(0.01)
        assert tree.sample(0) is None
        process.wait()
        assert tree.sample(0) is None


def test_no_such_process_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="there is no process 4194999"):
        Tree(4194999)


def test_a_process_that_may_not_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    _refused(monkeypatch, os.getpid())
    with pytest.raises(NoPermissionError, match=rf"{os.getpid()} \(.+\) may not be read") as raised:
        Tree(os.getpid()).sample(0)
    assert "\n" not in str(raised.value)


def test_a_descendant_that_may_not_be_read_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with started(HOLDS, str(50 * MIB)) as process:
        _refused(monkeypatch, process.pid)
        tree = Tree(os.getpid())
        held = tree.sample(0)
        assert held is not None
        assert any(name.startswith(f"{process.pid} (") for name in tree.unreadable)


def _refused(monkeypatch: pytest.MonkeyPatch, pid: int) -> None:
    """As the kernel refuses another user's process: tests may run as root, who may read all."""
    read = Path.read_text

    def refuse(path: Path, *arguments: Any, **options: Any) -> str:
        if path == Path(f"/proc/{pid}/smaps_rollup"):
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", refuse)
