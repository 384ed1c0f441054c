"""heaptrack, on a plain run in a process of its own.

What it says at the end are totals, which are held against those of the repaired backend:
allocations, and those that were never freed. pymalloc stays on, as nothing in its documentation
says otherwise: with each small object an allocation, any other way through the same Python would
look like a fault. It knows the lines of C alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness.bench.tools.tool import Run, Said, Tool, plain_command
from harness.bench.tools.watch import clear, watch, words
from harness.selftest import Planted

_VARIABLES = {"PYTHONHASHSEED": "0"}


@contextlib.contextmanager
def _open() -> Iterator[Run]:
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        yield lambda run: _look(run, Path(folder))


def _look(run: Planted, folder: Path) -> Said:
    printed = folder / "output"
    paths = os.pathsep.join(filter(None, sys.path))
    under = ["heaptrack", "-o", str(folder / "data")]
    with printed.open("w") as output:
        process = subprocess.Popen(
            [*under, sys.executable, "-m", *plain_command(run)],
            cwd=folder,
            env=os.environ | _VARIABLES | {"PYTHONPATH": paths, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def ended(seconds: float) -> bool:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None

    try:
        failed = watch(process.pid, ended)
        process.wait()
    finally:
        clear(process.pid)
    return parse(printed.read_text(errors="replace"), failed or words(process.returncode))


def parse(printed: str, failed: str = "") -> Said:
    """What it printed; `failed` is how the process broke off, if it did."""
    if failed:
        return Said(failed=failed)
    totals = {}
    for kind in ("leaked allocations", "allocations"):
        found = re.search(rf"^\s*{kind}:\s+(\d+)$", printed, re.MULTILINE)
        if found is None:
            return Said(failed="no totals were printed")
        totals[kind] = int(found[1])
    return Said(totals=totals)


HEAPTRACK = Tool("heaptrack", _open)
