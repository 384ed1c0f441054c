"""What counts can depend on: versions, allocator, processor, pinned settings."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Any

_VARIABLES = (
    "GLIBC_TUNABLES",
    "LD_PRELOAD",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TRIM_THRESHOLD_",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
)


def describe() -> dict[str, Any]:
    """The environment of the calling process."""
    described: dict[str, Any] = {
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "steadyframe": metadata.version("steadyframe"),
        "memray": metadata.version("memray"),
        "numpy": metadata.version("numpy"),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }
    if torch := sys.modules.get("torch"):
        described["torch"] = str(torch.__version__)
        described["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
    return described
