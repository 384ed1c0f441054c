"""Peak memory of one contestant, in a process of its own: by what it rose above the idle process.

Idle is after a frame of 16x16: what a runtime loads and makes once for all sizes is not counted.
The geometries come in the order given, each with a backend of its own that is closed after it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.errors import UsageError

Size = tuple[int, int]
"""width, height"""
_FRAMES = 2
_IDLE_SIZE = (16, 16)
_RESET_PEAK = "5"
"""what clear_refs takes for it: the peak is then what is resident now"""


def peaks(name: str, model: str, threads: int, sizes: Sequence[Size]) -> list[int]:
    """Bytes for each geometry. Raises UsageError with what the process said, if it failed."""
    request = json.dumps([name, model, threads, [list(size) for size in sizes]])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "harness.bench.peak", request],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UsageError(f"{name} could not run {model}: {last}")
    found: list[int] = json.loads(done.stdout)
    return found


def _measure(name: str, model: str, threads: int, sizes: Sequence[Size]) -> list[int]:
    import numpy as np

    from backend.frame import Frame
    from harness.bench import contestants

    def run(width: int, height: int) -> None:
        one = contestants.open_one(name, model, width, height, threads)
        assert one is not None
        frame = Frame(np.zeros((height, width), np.uint8), "gray8")
        for _ in range(_FRAMES):
            contestants.serve(one, frame)
        one.close()

    run(*_IDLE_SIZE)
    idle = _status("VmRSS")
    found = []
    for size in sizes:
        Path("/proc/self/clear_refs").write_text(_RESET_PEAK)
        run(*size)
        found.append(_status("VmHWM") - idle)
    return found


def _status(name: str) -> int:
    """Bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) * 1024


if __name__ == "__main__":
    print(json.dumps(_measure(*json.loads(sys.argv[1]))))
