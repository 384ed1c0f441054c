"""Commands in forks: what they print, how they end, and that nothing of them is left."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from harness.bench.tools import watch
from harness.bench.tools.nursery import Nursery

PROGRAMS = {
    "says": "import sys; print(sys.argv[1:], 'torch' in sys.modules)",
    "crashes": "import os; os.abort()",
    "sleeps": "import time; time.sleep(100)",
    "spins": "while True: pass",
    "leaves": "import subprocess; print(subprocess.Popen(['sleep', '100']).pid)",
}


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        for name, text in PROGRAMS.items():
            (nursery.folder / f"{name}.py").write_text(text)
        yield nursery


def test_a_command_is_run_in_a_fork_of_its_own(nursery: Nursery) -> None:
    one, other = (nursery.run(["says", "a", "b"]) for _ in range(2))
    assert one.printed == other.printed == "['a', 'b'] True\n"
    assert one.process != other.process
    assert not one.failed


@pytest.mark.parametrize(
    ("name", "failed"),
    [
        ("crashes", "crashed with SIGABRT"),
        ("sleeps", "hung"),
        ("spins", "used 1 s of processor time"),
    ],
)
def test_it_is_said_how_a_command_fails(
    nursery: Nursery, monkeypatch: pytest.MonkeyPatch, name: str, failed: str
) -> None:
    monkeypatch.setattr(watch, "IDLE_S", 1.0 if name == "sleeps" else 60.0)
    monkeypatch.setattr(watch, "LIMIT_S", 1.0)
    assert nursery.run([name]).failed == failed


def test_processes_that_a_command_leaves_are_ended(nursery: Nursery) -> None:
    left = int(nursery.run(["leaves"]).printed)
    _, alive = psutil.wait_procs([psutil.Process(left)] if psutil.pid_exists(left) else [], 10)
    assert not alive
