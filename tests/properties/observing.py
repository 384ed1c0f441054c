"""A workload through a backend in this process, looked at whenever a step has ended.

What a backend holds is counted by what can be reached from it: every block of memory under a tensor
or an array, once. That is exact without a tracer, so that thousands of examples take seconds.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

from backend.frame import Frame
from harness.plan import PlannedStep, plan_steps
from harness.source import synthetic_source
from harness.workload import Workload

DEFAULT_FORMAT = "rgb24"
Opener = Callable[[], Any]
"""Opens a backend."""
_STRANGERS = (ModuleType, type, FunctionType, BuiltinFunctionType)


def reachable(root: object) -> Iterator[object]:
    """All objects that one refers to, by whatever way, but for code and what code refers to."""
    seen, todo = {id(root)}, [root]
    while todo:
        found = todo.pop()
        yield found
        for other in gc.get_referents(found):
            if id(other) not in seen and not isinstance(other, _STRANGERS):
                seen.add(id(other))
                todo.append(other)


def held_bytes(backend: object) -> int:
    """Bytes of the blocks under all tensors and arrays that the backend refers to."""
    blocks: dict[int, int] = {}
    for found in reachable(backend):
        if isinstance(found, torch.Tensor):
            storage = found.untyped_storage()
            blocks[storage.data_ptr()] = storage.nbytes()
        elif isinstance(found, torch.UntypedStorage):
            blocks[found.data_ptr()] = found.nbytes()
        elif isinstance(found, np.ndarray):
            while isinstance(found.base, np.ndarray):
                found = found.base
            if found.base is None:
                blocks[found.ctypes.data] = found.nbytes
    blocks.pop(0, None)  # of nothing
    return sum(blocks.values())


def watch(root: object) -> list[weakref.ref[Any]]:
    """Weak references to what is held, as far as it can have them: tensors, frames, threads."""
    return [
        weakref.ref(found)
        for found in reachable(root)
        if isinstance(found, (torch.Tensor, Frame)) or found is root
    ]


@dataclass(frozen=True)
class Look:
    """What was there when a step had ended."""

    step: PlannedStep
    held: int
    """bytes"""


@dataclass(frozen=True)
class Seen:
    """What a run showed."""

    looks: tuple[Look, ...]
    outputs: tuple[np.ndarray, ...]
    peak_in_flight: int

    @property
    def held(self) -> list[int]:
        """Bytes after each step."""
        return [look.held for look in self.looks]


def feed(backend: Any, workload: Workload, steps: Sequence[PlannedStep] | None = None) -> Seen:
    """Feed a workload to an open backend, all results of a step collected at its end."""
    source = synthetic_source(workload, DEFAULT_FORMAT, seed=0)
    looks, outputs = [], []
    for step in steps or plan_steps(workload, warmup=0, default_format=DEFAULT_FORMAT):
        for number in range(step.first, step.last + 1):
            backend.execute(source.frame(number))
        backend.flush()
        while (result := backend.get_result()) is not None:
            outputs.append(result.data.copy())
            del result
        looks.append(Look(step, held_bytes(backend)))
    return Seen(tuple(looks), tuple(outputs), backend.stats().peak_in_flight)


def run(opener: Opener, workload: Workload) -> Seen:
    """Open a backend, feed it the workload, and close it."""
    backend = opener()
    try:
        return feed(backend, workload)
    finally:
        backend.close()
