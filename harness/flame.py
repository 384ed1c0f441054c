"""memray's own flame graph of a trace: everything that is alive at its end, whoever's it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness.report.files import write

_REPORTER = ("-P", "-m", "memray", "flamegraph", "--leaks", "--no-web")


def draw(trace: Path, to: Path) -> tuple[str, ...]:
    """Write it to `to`, as one page that needs no network; if it can't be made, a note says why.

    The reporter is a process of its own, so that a large trace takes no memory of this one. What it
    writes lies beside the trace until it is whole. Raises UsageError if `to` can't be written.
    """
    if not trace.exists():
        return (f"{to} was not written: the run left no trace to draw a flame graph of",)
    made = trace.with_suffix(".html")
    done = subprocess.run(
        [sys.executable, *_REPORTER, "--output", str(made), str(trace)],
        capture_output=True,
        text=True,
        errors="replace",
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        return (f"{to} was not written: memray could not draw its flame graph: {said}",)
    write(to, made.read_text(encoding="utf-8"))
    return ()
