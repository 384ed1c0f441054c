"""How long it takes to analyse a trace, and how much memory, by its number of events.

A tight loop under the tracer makes each trace: each event but the marks is the allocation or the
release of a block, of which a thousand are alive at any time. In the last trace one of ten stays
alive for good: what must be kept in mind is not events but blocks alive. A fresh process reads it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TRACES = ((1_000_000, 0), (3_000_000, 0), (10_000_000, 0), (10_000_000, 10))
"""events of each trace, and of how many blocks one stays alive"""
MOST_MIB = 300
_STEPS = 100
_ALIVE = 1000
_BLOCK = 1000
"""bytes; more than Python's own allocator takes for small objects"""
_EVENTS_PER_BLOCK = 2


def main(arguments: list[str]) -> int:
    """Print a table; 1 if the memory limit is exceeded, 0 otherwise."""
    if arguments:
        command, path, count, every = arguments
        if command == "make":
            _make(Path(path), int(count), int(every))
        else:
            print(json.dumps(_read(Path(path))))
        return 0
    heads = ("events", "kept alive", "seconds", "us/event", "peak MiB")
    print("".join(f"{head:>13}" for head in heads))
    worst = 0.0
    for events, kept in TRACES:
        with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
            arguments = [str(Path(folder) / "trace.bin"), str(events), str(kept)]
            _in_fresh_process("make", arguments)
            read = json.loads(_in_fresh_process("read", arguments))
        seconds, done, peak = read["seconds"], read["events"], read["peak_mib"]
        print(
            f"{done:>13,}{read['alive']:>13,}{seconds:>13.1f}"
            f"{seconds / done * 1e6:>13.2f}{peak:>13.0f}",
            flush=True,
        )
        worst = max(worst, peak)
    print(f"limit of memory: {MOST_MIB} MiB, {'kept' if worst < MOST_MIB else 'EXCEEDED'}")
    return int(worst >= MOST_MIB)


def _in_fresh_process(command: str, arguments: list[str]) -> str:
    module = "harness.bench.events"
    done = subprocess.run(
        [sys.executable, "-m", module, command, *arguments],
        stdout=subprocess.PIPE,
        text=True,
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


def _read(path: Path) -> dict[str, Any]:
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
    return {
        "seconds": seconds,
        "events": timeline.events,
        "peak_mib": peak_kib / 1024,
        "alive": alive,
    }


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
