"""What torch holds on GPUs, and of memory that is pinned for them.

Nothing is imported and no GPU is touched for it: where torch was built without CUDA, or the backend
has not used a GPU yet, the numbers are 0. Written from torch's documentation and not yet run on a
machine with a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

CudaNumbers = tuple[int, int, int]
"""bytes in use on all GPUs, blocks in use there, bytes of pinned host memory in use"""

_NONE: CudaNumbers = (0, 0, 0)


def reader() -> Callable[[], CudaNumbers]:
    """A function that reads the numbers of this moment; a constant one without CUDA in torch."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.backends.cuda.is_built():
        return _nothing
    return lambda: _read(torch.cuda)


def _nothing() -> CudaNumbers:
    return _NONE


def _read(cuda: Any) -> CudaNumbers:
    if not cuda.is_initialized():
        return _NONE
    size = blocks = 0
    for device in range(cuda.device_count()):
        stats = cuda.memory_stats(device)
        size += stats.get("allocated_bytes.all.current", 0)
        blocks += stats.get("active.all.current", 0)
    # Since torch 2.7.
    host = cuda.host_memory_stats() if hasattr(cuda, "host_memory_stats") else {}
    return size, blocks, host.get("allocated_bytes.current", 0)
