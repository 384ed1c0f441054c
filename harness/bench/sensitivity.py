"""The sensitivity section: how small a leak is found, by the number of frames run.

The same native block is lost by the same backend, in a loop of so many frames: here, under psleak,
and under pytest-memray. Two series: a block on every frame, of fewer and fewer bytes; and one of 16
bytes on fewer and fewer frames. A tool that needs a limit is given the least at which it says
nothing of the backend without a leak.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from harness.bench import optional
from harness.bench.section import Cell, Chart, Column, Line, Section, Target, Tell
from harness.bench.tools import in_pytest
from harness.verify import verify

TARGET = "backend.faults._leak:Leak"
FRAMES = (60, 180, 600, 1800)
SIZES = (4096, 1024, 256, 64, 16, 1)
"""bytes lost on every frame, the easiest to find first"""
EVERY = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""frames of which one loses a block, the easiest to find first"""
BLOCK = 16
CYCLES = 3

Tool = Callable[[int, int, int], bool]
"""(bytes, every, frames) -> whether a leak is reported; `every` is 0 for none"""

COLUMNS = [
    Column("tool"),
    Column("frames"),
    Column("least lost on every frame", "bytes"),
    Column(f"{BLOCK} bytes lost every", "frames"),
]
ABOUT = (
    f"A native block is lost on every frame, of fewer and fewer bytes; then one of {BLOCK} bytes, "
    "on fewer and fewer frames. pytest-memray is given the least limit at which it says nothing of "
    "the backend without a leak. The frames are those of all cycles, or of all retries, together."
)


class Least(NamedTuple):
    """What one tool finds in so many frames; None where it finds none."""

    size: int | None
    every: int | None
    alarm: bool
    """it accuses the backend that has no leak: what it finds says nothing then"""


def measure(_: int, tell: Tell) -> Section:
    """The table of all tools; what is found is exact, so that there are no turns."""
    tools: dict[str, Tool] = {"steadyframe": steadyframe}
    peers: dict[str, Tool] = {"psleak": psleak, "pytest-memray": PytestMemray()}
    tools |= {name: tool for name, tool in peers.items() if optional.remedy(name) is None}
    tell(f"{', '.join(tools)}, side by side")
    with ThreadPoolExecutor(len(tools)) as pool:
        found = dict(zip(tools, pool.map(_by_frames, tools.values()), strict=True))
    missing: list[list[Cell]] = [
        [name, *[optional.MISSING] * 3] for name in peers if name not in found
    ]
    rows = [_row(name, frames, one) for name, by in found.items() for frames, one in by.items()]
    alarms = sum(least.alarm for least in found["steadyframe"].values())
    return Section(
        name="sensitivity",
        title="How small a leak is found",
        about=ABOUT,
        columns=COLUMNS,
        rows=[*rows, *missing],
        notes=optional.notes(*peers),
        charts=[
            _chart("Least leak found on every frame", "bytes a frame", "size", found),
            _chart(f"Rarest leak of {BLOCK} bytes found", "frames", "every", found),
        ],
        targets=[Target("steadyframe: alarms on a backend without a leak", 0, alarms, TARGET)],
        raw={name: {str(n): one._asdict() for n, one in by.items()} for name, by in found.items()},
    )


def _by_frames(tool: Tool) -> dict[int, Least]:
    return {frames: _least(tool, frames) for frames in FRAMES}


def _least(tool: Tool, frames: int) -> Least:
    if tool(BLOCK, 0, frames):
        return Least(None, None, alarm=True)
    size = least_found(SIZES, lambda size: tool(size, 1, frames))
    rates = [every for every in EVERY if every <= frames]
    rate = least_found(rates, lambda every: tool(BLOCK, every, frames))
    return Least(size, rate, alarm=False)


def _row(name: str, frames: int, least: Least) -> list[Cell]:
    none = "FALSE ALARM" if least.alarm else "none found"
    return [name, frames, *(none if one is None else one for one in (least.size, least.every))]


def _chart(title: str, y: str, field: str, found: Mapping[str, Mapping[int, Least]]) -> Chart:
    lines = []
    for name, by in found.items():
        values = [(frames, getattr(one, field)) for frames, one in by.items()]
        lines.append(Line(name, [(x, value) for x, value in values if value is not None]))
    return Chart(title, "frames run", y, lines)


def least_found(candidates: Sequence[int], found: Callable[[int], bool]) -> int | None:
    """The last candidate that is found, None if none is; each is harder to find than the last."""
    place = bisect_left(candidates, True, key=lambda candidate: not found(candidate))
    return candidates[place - 1] if place else None


def steadyframe(size: int, every: int, frames: int) -> bool:
    """The traced run, its frames divided among the cycles."""
    workload = f"16x16@25*{frames // CYCLES}"
    report = verify(
        TARGET,
        workload,
        cycles=CYCLES,
        level="zero-growth",
        options={"size": size, "every": every},
        quick=True,
    )
    if report.failure is not None:
        raise RuntimeError(report.failure.text)
    return report.verdict == "fail"


_LOOP = """
import numpy
from backend.faults._leak import Leak
from backend.frame import Frame
backend, frame = Leak({size}, {every}), Frame(numpy.zeros((16, 16, 3), numpy.uint8))
"""
_PSLEAK = """
import psleak
class Test(psleak.MemoryLeakTestCase):
    def test(self):
        self.execute(lambda: backend(frame) and None, times={times}, retries={retries})
"""
_RETRIES = 4
_GROWTH = 1.5
"""psleak makes half as many calls again with each retry"""
_ATTEMPTS = sum(_GROWTH**n for n in range(_RETRIES))


def psleak(size: int, every: int, frames: int) -> bool:
    """psleak's test case, with as many calls in all its retries together."""
    times = max(1, int(frames / _ATTEMPTS))
    script = _LOOP.format(size=size, every=every) + _PSLEAK.format(times=times, retries=_RETRIES)
    # What it asks for itself: each object is a block of malloc's.
    said = _pytest(script, {"PYTHONMALLOC": "malloc", "PYTHONUNBUFFERED": "1"})
    return _failed(said, "MemoryLeakError")


class PytestMemray:
    """pytest-memray's limit_leaks."""

    _SCRIPT = """
import pytest
@pytest.mark.limit_leaks("{limit} B")
def test():
    for _ in range({frames}):
        backend(frame)
"""
    _LIMITS = tuple(4**n for n in range(12))

    def __init__(self) -> None:
        self._limits: dict[int, int] = {}

    def __call__(self, size: int, every: int, frames: int) -> bool:
        """Whether a leak is reported at the least limit that is silent without one."""
        if frames not in self._limits:
            silent = (n for n in self._LIMITS if not self._alarms(BLOCK, 0, frames, n))
            self._limits[frames] = next(silent)
        return self._alarms(size, every, frames, self._limits[frames])

    def _alarms(self, size: int, every: int, frames: int, limit: int) -> bool:
        script = _LOOP.format(size=size, every=every)
        script += self._SCRIPT.format(limit=limit, frames=frames)
        return _failed(_pytest(script, {}), "allowed to leak")


def _pytest(script: str, variables: dict[str, str]) -> str:
    """What pytest says of a test, run in a fresh process away from any project's settings."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        test = Path(folder, "test_leak.py")
        test.write_text(script)
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            [sys.executable, "-m", *in_pytest.arguments(test)],
            cwd=folder,
            env=os.environ | paths | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    return done.stdout


def _failed(said: str, words: str) -> bool:
    """Whether the test failed, and for this reason; raises RuntimeError if for another."""
    if "1 passed" in said:
        return False
    if "1 failed" in said and words in said:
        return True
    raise RuntimeError(f"pytest said neither that it passed nor that it leaks:\n{said}")
