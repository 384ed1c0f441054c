"""A pool of threads for each resolution; those of the ones before are never ended."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from backend.faults._changes import WORKLOAD, OnChange
from backend.faults.fault import Fault

_pools: list[ThreadPoolExecutor] = []


class Faulty(OnChange):
    """Starts a pool when the width changes."""

    def changed(self) -> None:
        """Start a pool for this width."""
        self.end()
        _pools.append(ThreadPoolExecutor(1, thread_name_prefix="fault-pool"))
        _pools[-1].submit(int).result()

    def end(self) -> None:
        """End the pool of the width before."""


class Repaired(Faulty):
    """Has one at a time."""

    def end(self) -> None:
        """End the pool of the width before."""
        while _pools:
            _pools.pop().shutdown()

    def close(self) -> None:
        """End the last pool."""
        self.end()


FAULT = Fault(
    about="a pool of threads is left behind on each change of resolution",
    rule="teardown-resources",
    kind="thread",
    level="zero-growth",
    workload=WORKLOAD,
    faulty=Faulty,
    repaired=Repaired,
)
