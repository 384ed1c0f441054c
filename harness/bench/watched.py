"""One backend and workload under each tool, timed: all of a command, or the cycles within it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from harness import isolate
from harness.bench import optional
from harness.bench.tools import in_pytest
from harness.request import request

CYCLES = 3
_TIMEOUT_S = 60.0
_FAILED_TEST = 1
"""pytest's exit code where a tool says that there is a leak: it has run all the same"""


@dataclass(frozen=True, slots=True)
class Work:
    """What every tool is given."""

    target: str
    """`package.module:factory`"""
    workload: str

    def __str__(self) -> str:
        return f"{self.target.partition(':')[2].removeprefix('open_')} {self.workload}"


class Timed(NamedTuple):
    """Seconds; None for what was not timed."""

    command: float | None = None
    """from the start of a process to its end"""
    cycles: float | None = None
    """open to close of every cycle, without imports and preparation"""


def inside(instrument: str, work: Work) -> Timed:
    """The cycles in a run of the harness's own; `instrument` is one of harness.instruments.

    Raises RuntimeError if the run fails.
    """
    asked = request(
        work.target,
        work.workload,
        video=None,
        cycles=CYCLES,
        seed=0,
        options=None,
        stateful=False,
        timeout=_TIMEOUT_S,
        memory_limit=None,
    )
    spec = msgspec.structs.replace(asked, instrument=instrument)
    with isolate.run(spec, _TIMEOUT_S, lambda *_: None) as ended:
        if ended.failure is not None or ended.outcome is None:
            raise RuntimeError(f"{instrument}: {ended.failure.text if ended.failure else 'died'}")
        return Timed(cycles=ended.outcome.measured_s)


def plain(work: Work) -> Timed:
    """Nothing watches it."""
    seconds, printed = _run(_python(work), Path.cwd(), {})
    return Timed(seconds, float(printed))


def verified(work: Work) -> Timed:
    """The whole command, with the runs that it makes and its judgement."""
    arguments = ["-m", "harness", "verify", work.target, "--workload", work.workload, "--quiet"]
    command = [sys.executable, *arguments, "--cycles", str(CYCLES)]
    return Timed(_run(command, Path.cwd(), {})[0])


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tool, which is given a plain run."""

    name: str
    needs: str
    """the package or program that it is"""
    command: Callable[[Work, Path], Sequence[str]]
    """with a folder for what it writes"""
    variables: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, work: Work) -> Timed:
        """Seconds of the command. Raises RuntimeError with what it said, if it fails."""
        with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as name:
            folder = Path(name)
            return Timed(_run(self.command(work, folder), folder, self.variables)[0])


def _run(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> tuple[float, str]:
    paths = os.pathsep.join(os.path.abspath(part) for part in sys.path)
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": paths, "PYTHONHASHSEED": "0", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode not in (0, _FAILED_TEST):
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise RuntimeError(f"{' '.join(command[:4])} ... exited with {done.returncode}: {last}")
    return seconds, done.stdout


def _python(work: Work) -> list[str]:
    arguments = [work.target, work.workload, str(CYCLES)]
    return [sys.executable, "-m", "harness.bench.plain", *arguments]


_LEAKS_TEST = """
import pytest
from harness.bench.plain import main

@pytest.mark.limit_leaks("1 GB")
def test():
    main({work.target!r}, {work.workload!r}, {cycles})
"""
_PSLEAK_TEST = """
import psleak
from harness.bench.plain import Plain

class Test(psleak.MemoryLeakTestCase):
    times, warmup_times, retries = {cycles}, 0, 0

    def test(self):
        self.execute(Plain({work.target!r}, {work.workload!r}).cycle)
"""


def _pytest(script: str, work: Work, folder: Path) -> list[str]:
    test = folder / "test_backend.py"
    test.write_text(script.format(work=work, cycles=CYCLES))
    return [sys.executable, "-m", *in_pytest.arguments(test)]


PEERS = (
    Peer(
        "pytest-memray limit_leaks",
        "pytest-memray",
        lambda work, folder: _pytest(_LEAKS_TEST, work, folder),
    ),
    # What it asks for itself: each object is a block of malloc's.
    Peer(
        "psleak",
        "psleak",
        lambda work, folder: _pytest(_PSLEAK_TEST, work, folder),
        {"PYTHONMALLOC": "malloc"},
    ),
    Peer(
        "heaptrack",
        "heaptrack",
        lambda work, folder: ["heaptrack", "-o", str(folder / "data"), *_python(work)],
    ),
    # Without this, memcheck sees arenas and not the objects in them.
    Peer(
        "valgrind memcheck",
        "valgrind",
        lambda work, _: ["valgrind", "--tool=memcheck", "--leak-check=full", *_python(work)],
        {"PYTHONMALLOC": "malloc"},
    ),
)


def installed() -> list[Peer]:
    """Those that are there."""
    return [peer for peer in PEERS if optional.remedy(peer.needs) is None]
