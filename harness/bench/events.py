"""How long it takes to analyse a trace, and how much memory, by its number of events.

A tight loop under the tracer makes each trace: each event but the marks is the allocation or the
release of a block, of which a thousand are alive at any time. Of some, one block of a few stays
alive for good: what must be kept in mind is not events but blocks alive. A fresh process reads it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

_STEPS = 100
_ALIVE = 1000
_BLOCK = 1000
"""bytes; more than Python's own allocator takes for small objects"""
_EVENTS_PER_BLOCK = 2
LEAST_EVENTS = _EVENTS_PER_BLOCK * _STEPS * _ALIVE
"""of which the number of events of a trace is a multiple"""


class Analysed(msgspec.Struct, frozen=True):
    """What it took to analyse one trace."""

    events: int
    alive: int
    """blocks at the end"""
    seconds: float
    peak_bytes: int
    """resident, of the process that read it"""


def analyse(events: int, kept: int) -> Analysed:
    """Make a trace of about so many events, and read it. Of `kept` blocks one stays alive, of 0
    none."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        arguments = [str(Path(folder) / "trace.bin"), str(events), str(kept)]
        _in_fresh_process("make", arguments)
        return msgspec.json.decode(_in_fresh_process("read", arguments), type=Analysed)


def _in_fresh_process(command: str, arguments: list[str]) -> bytes:
    module = "harness.bench.events"
    done = subprocess.run(
        [sys.executable, "-m", module, command, *arguments],
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout


def _make(path: Path, events: int, kept: int) -> None:
    from harness.probes import trace

    alive: list[bytearray | None] = [None] * _ALIVE
    for_good = []
    rounds = events // _EVENTS_PER_BLOCK // _STEPS // _ALIVE
    with trace.tracker(path):
        for _ in range(_STEPS + 1):
            trace.mark()
            for _ in range(rounds):
                for slot in range(_ALIVE):
                    alive[slot] = bytearray(_BLOCK)
                    if kept and slot % kept == 0:
                        for_good.append(alive[slot])
        for _ in range(4):  # the ends of flush, close and the collection
            trace.mark()


def _read(path: Path) -> Analysed:
    from harness.owners import Owners
    from harness.plan import PlannedStep
    from harness.probes import trace
    from harness.reading import build
    from harness.timeline import END, layout

    steps = [PlannedStep(n, n, n, 64, 64, "steady") for n in range(_STEPS)]
    intervals = layout(1, steps)
    started = time.perf_counter()
    timeline = build(trace.read(path), intervals, Owners())
    seconds = time.perf_counter() - started
    assert len(timeline.intervals) == len(intervals)
    alive = sum(span.count for span in timeline.spans if span.died == END)
    status = Path("/proc/self/status").read_text()
    peak_kib = int(status.split("VmHWM:")[1].split()[0])
    return Analysed(timeline.events, alive, seconds, peak_kib * 1024)


if __name__ == "__main__":
    asked, path, count, every = sys.argv[1:]
    if asked == "make":
        _make(Path(path), int(count), int(every))
    else:
        print(msgspec.json.encode(_read(Path(path))).decode())
