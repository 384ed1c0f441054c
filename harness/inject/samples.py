"""What a process holds after each of several failures, to tell a leak from a first use."""

from __future__ import annotations

import gc
import time
from array import array
from collections.abc import Mapping

import torch

from harness.inject.points import LEFT, Break
from harness.probes.heap import FIELDS, Sampler
from harness.screening import LEAST_CHUNK

REPEATS = 3
"""failures of the same point, after the first, each of which must add to what is a leak"""
_THREADS_END_S = 0.5
"""how long a thread that has nothing more to do may take to be gone"""
_TENSORS = "tensors"
_LEAST = {
    "heap_bytes": LEAST_CHUNK,
    "python_blocks": 1,
    "threads": 1,
    "descriptors": 1,
    _TENSORS: 1,
}
"""what is judged of a sample, and the least rise that counts"""
_WORDS = {
    "heap_bytes": "bytes of the heap",
    "python_blocks": "small Python objects",
    "threads": "threads",
    "descriptors": "file descriptors",
    _TENSORS: "tensors",
}

_COLUMNS = (*FIELDS, _TENSORS)


class Samples:
    """A few samples in memory that is there beforehand, so that they count nothing of their own."""

    def __init__(self) -> None:
        self._rows = [array("q", bytes(8 * len(_COLUMNS))) for _ in range(REPEATS + 2)]
        self.taken = 0
        self.take()  # the sampler's own first use

    def begin(self) -> None:
        """Forget those that were taken."""
        self.taken = 0

    def take(self) -> None:
        """Add one. A thread that has nothing more to do is given a moment to be gone."""
        row = self._rows[self.taken]
        sample = Sampler(row)
        sample()
        if self.taken:
            before = self._rows[self.taken - 1]
            deadline = time.monotonic() + _THREADS_END_S
            at = FIELDS.index("threads")
            while row[at] > before[at] and time.monotonic() < deadline:
                time.sleep(_THREADS_END_S / 100)
                Sampler(row)()
        # Not isinstance, which asks an object that stands for another what it is.
        row[-1] = sum(issubclass(type(thing), torch.Tensor) for thing in gc.get_objects())
        self.taken += 1

    def added(self, field: str) -> int:
        """How much more the last one has than the first."""
        at = _COLUMNS.index(field)
        return self._rows[self.taken - 1][at] - self._rows[0][at]

    def rising(self) -> list[str]:
        """The fields that have risen, by what counts, from each one to the next."""
        return [
            field
            for field, least in _LEAST.items()
            for at in (_COLUMNS.index(field),)
            if all(
                self._rows[number + 1][at] - self._rows[number][at] >= least
                for number in range(self.taken - 1)
            )
        ]

    def leaks(self) -> list[Break]:
        """What has risen with each failure, if there were enough of them to tell."""
        if self.taken < REPEATS + 2:
            return []
        return [
            Break(
                "leak",
                f"{self.added(field):,} {_WORDS[field]} more after {REPEATS + 1} such failures",
            )
            for field in self.rising()
        ]

    def beyond(self, allowed: Mapping[str, int]) -> list[Break]:
        """What a process's first cycle has left beyond what one without a failure leaves."""
        more = {field: self.added(field) - allowed[field] for field in LEFT}
        return [
            Break("leak", f"{count:,} {_WORDS[field]} more are left than without the failure")
            for field, count in more.items()
            if count > 0
        ]
