"""What counts can depend on: versions, allocator, processor, pinned settings."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.preconditions import foreign_allocator

_VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "GLIBC_TUNABLES",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONDEVMODE",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONOPTIMIZE",
)
_PREFIXES = (
    "ATEN_",
    "DNNL_",
    "GOMP_",
    "KMP_",
    "MALLOC_",
    "MKL_",
    "OMP_",
    "ONEDNN_",
    "OPENBLAS_",
    "PYTORCH_",
    "TORCH_",
)
"""of the variables by which allocators, thread pools and kernels are chosen"""


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
        "allocator": foreign_allocator() or "glibc",
        "processor": _processor(),
        "processors": len(os.sched_getaffinity(0)),
        "variables": {
            name: value
            for name, value in sorted(os.environ.items())
            if name in _VARIABLES or name.startswith(_PREFIXES)
        },
    }
    if torch := sys.modules.get("torch"):
        described["torch"] = str(torch.__version__)
        described["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
        described["torch_threads"] = torch.get_num_threads()
        described["torch_interop_threads"] = torch.get_num_interop_threads()
    return described


def _processor() -> str:
    """The processor's name as the kernel tells it; empty where it tells none."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "")
