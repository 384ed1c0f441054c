"""How small a leak is found, by the number of frames run: here, by psleak, and by pytest-memray.

The same native block is lost by the same backend, in a loop of so many frames. Two series: a block
on every frame, of fewer and fewer bytes; and one of 16 bytes on fewer and fewer frames. A tool that
needs a limit is given the least at which it says nothing of the backend without a leak.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.bench.chart import Line, chart
from harness.verify import verify

TARGET = "backend.faults._leak:Leak"
FRAMES = (60, 180, 600, 1800)
SIZES = (4096, 1024, 256, 64, 16, 1)
"""bytes lost on every frame, the easiest to find first"""
EVERY = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""frames of which one loses a block, the easiest to find first"""
BLOCK = 16
CYCLES = 3
PLOT = Path("reports/sensitivity.svg")

Tool = Callable[[int, int, int], bool]
"""(bytes, every, frames) -> whether a leak is reported; `every` is 0 for none"""


def main() -> int:
    """Print the table and write the plot; 1 if anything is said of a backend without a leak."""
    tools: dict[str, Tool] = {"steadyframe": steadyframe}
    others: tuple[tuple[str, str, Tool], ...] = (
        ("psleak", "psleak", psleak),
        ("pytest-memray", "pytest_memray", PytestMemray()),
    )
    for name, module, tool in others:
        if importlib.util.find_spec(module) is None:
            print(f"{name}: missing; pip install -c constraints.txt -e '.[bench]'")
        else:
            tools[name] = tool
    print(f"{'':<16}{'frames':>8}  {'least bytes lost per frame':<28}{BLOCK} bytes lost every")
    by_size = [Line(name, []) for name in tools]
    by_every = [Line(name, []) for name in tools]
    alarms = 0
    for tool, size, every in zip(tools.values(), by_size, by_every, strict=True):
        for frames in FRAMES:
            alarms += not _measure(tool, frames, size, every)
    PLOT.parent.mkdir(exist_ok=True)
    every_title = f"Rarest leak found: {BLOCK} bytes every so many frames"
    PLOT.write_text(chart(("Least leak found: bytes a frame", by_size), (every_title, by_every)))
    print(f"\nPlot: {PLOT}")
    return 1 if alarms else 0


def _measure(tool: Tool, frames: int, by_size: Line, by_every: Line) -> bool:
    """Add a point to each line, and print both; false if the tool accuses what has no leak."""
    row = f"{by_size.name:<16}{frames:>8}  "
    if tool(BLOCK, 0, frames):
        print(f"{row}FALSE ALARM on the backend without a leak", flush=True)
        return False
    size = least_found(SIZES, lambda size: tool(size, 1, frames))
    rates = [every for every in EVERY if every <= frames]
    rate = least_found(rates, lambda every: tool(BLOCK, every, frames))
    by_size.add(frames, size)
    by_every.add(frames, rate)
    print(f"{row}{_words(size, 'byte'):<28}{_words(rate, 'frame')}", flush=True)
    return True


def least_found(candidates: Sequence[int], found: Callable[[int], bool]) -> int | None:
    """The last candidate that is found, None if none is; each is harder to find than the last."""
    place = bisect_left(candidates, True, key=lambda candidate: not found(candidate))
    return candidates[place - 1] if place else None


def _words(amount: int | None, noun: str) -> str:
    if amount is None:
        return "none found"
    return f"{amount:,} {noun}" + ("" if amount == 1 else "s")


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
        return _failed(_pytest(script, {}, "--memray"), "allowed to leak")


def _pytest(script: str, variables: dict[str, str], *options: str) -> str:
    """What pytest says of a test, run in a fresh process away from any project's settings."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        test = Path(folder, "test_leak.py")
        test.write_text(script)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        done = subprocess.run(
            [*command, "--rootdir", folder, str(test)],
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


if __name__ == "__main__":
    raise SystemExit(main())
