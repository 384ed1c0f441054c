"""A function with an lru_cache that is too small: it makes entries again and again, and drops as
many."""

from __future__ import annotations

from functools import lru_cache

from backend.faults.fault import Green
from backend.frame import Frame

_SIZES = "64x64", "48x64", "32x64", "64x32"


@lru_cache(maxsize=2)
def _table(width: int, height: int) -> bytes:
    return bytes(width * height // 2)


def backend(frame: Frame) -> Frame:
    """Look up the table of a size."""
    _table(frame.width, frame.height)
    return frame


GREEN = Green(
    about="an LRU cache that evicts",
    workload=",".join(f"{size}@25*10" for size in _SIZES * 3),
    backend=backend,
)
