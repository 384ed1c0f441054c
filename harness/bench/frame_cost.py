"""What one warm frame allocates, exactly: a traced one, and only what lies between two marks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.probes import trace


def allocated(serve: Callable[[], object]) -> tuple[int, int]:
    """Allocations of one call and their bytes, by anybody in the process."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        path = Path(folder) / "trace.bin"
        with trace.tracker(path):
            serve()  # what a tracer makes CPython allocate once
            trace.mark()
            serve()
            trace.mark()
        sizes = _between_marks(path)
    return len(sizes), sum(sizes)


def _between_marks(path: Path) -> list[int]:
    sizes: list[int] = []
    marks = 0
    for record in trace.read(path):
        if record.allocator in trace.FREES or record.allocator == trace.MUNMAP:
            continue
        if record.size == trace.MARK_SIZE and trace.is_mark(record):
            marks += 1
        elif marks == 1:
            sizes.append(record.size)
    assert marks == 2
    return sizes
