"""Threads that the first instance starts and all others use, for the life of the process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backend.faults.fault import Green
from backend.frame import Frame

_pools: list[ThreadPoolExecutor] = []


class Backend:
    """Has the pool check each frame."""

    def __init__(self) -> None:
        if not _pools:
            _pools.append(ThreadPoolExecutor(2))

    def __call__(self, frame: Frame) -> Frame:
        _pools[0].submit(int, frame.pts).result()
        return frame


GREEN = Green(
    about="a pool of threads that is created on first use",
    level="zero-growth",
    workload="32x32@25*16",
    backend=Backend,
)
