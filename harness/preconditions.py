"""What this machine and this process can't have measured, said instead of measured wrongly.

`require` refuses, before anything is started, where every number would be nonsense. `notes` is
asked in the measured process and says which of the numbers are to be read with care.
"""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path

from harness.errors import UsageError

_WHY = {
    "malloc": "makes every Python object an allocation",
    "malloc_debug": "makes every Python object an allocation, and each larger than was asked for",
    "debug": "makes each block of Python's larger than was asked for",
    "pymalloc_debug": "makes each block of Python's larger than was asked for",
}
"""values of PYTHONMALLOC that change what is counted"""


def require(variables: Mapping[str, str] = os.environ) -> None:
    """Raise UsageError if nothing can be measured here. The environment is that of the runs."""
    if sys.platform != "linux" or not Path("/proc/self/task").is_dir():
        raise UsageError(
            "only Linux with /proc can be measured on: /proc/self/task, by which a step's end is "
            "known, is not there"
        )
    if platform.libc_ver()[0] != "glibc":
        raise UsageError(
            "the C library is not glibc, whose heap statistics and hooks the measurement needs: "
            "run on a distribution with glibc"
        )
    name = "PYTHONMALLOC"
    why = _WHY.get(variables.get(name, ""))
    if why is None and variables.get("PYTHONDEVMODE"):
        name, why = "PYTHONDEVMODE", _WHY["debug"]  # development mode turns it on
    if why is not None:
        raise UsageError(f"{name}={variables[name]} {why}, so that no count is right: unset it")


def notes() -> list[str]:
    """What can't be measured in this process, or only in part, in sentences for people."""
    found = []
    if library := foreign_allocator():
        found.append(
            f"malloc is {library}'s and not glibc's: calls of malloc are counted, but heap_bytes "
            "says nothing, and memory taken through a function pointer is not seen"
        )
    if tracer := _tracer():
        found.append(
            f"{tracer} is on in the measured process: what it allocates counts as that of the code "
            "it watches"
        )
    task = Path(f"/proc/self/task/{os.getpid()}")
    if not (task / "schedstat").exists():
        found.append(
            "the kernel keeps no schedstat: a thread that runs only between two looks at it is "
            "taken for one at rest"
        )
    if not (task / "children").exists():
        found.append("the kernel lists no children: child processes left behind are not seen")
    return found


def foreign_allocator() -> str | None:
    """Name of the library that malloc comes from if that is not libc, whoever preloaded it."""
    library = _library_of("malloc")
    name = Path(library).name
    return None if name.startswith(("libc.so", "libc-")) else name


class _Symbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _library_of(function: str) -> str:
    """File of the library that a function of the process is found in, by the linker's order."""
    process = ctypes.CDLL(None)
    found = _Symbol()
    address = ctypes.cast(getattr(process, function), ctypes.c_void_p)
    if not process.dladdr(address, ctypes.byref(found)):
        return "an unknown library"
    return os.fsdecode(found.file)


def _tracer() -> str | None:
    """What watches each line of Python, if anything does."""
    tracer = sys.gettrace() or sys.getprofile()
    if tracer is None:
        return None
    return f"{getattr(tracer, '__module__', None) or type(tracer).__module__} (a tracer of lines)"


@functools.cache
def symbol_notes() -> tuple[str, ...]:
    """What can't be told here of a trace whose native symbols are asked for.

    Asked once per process: it takes 0.2 s, and memray keeps 46 MB of debug information each time.
    """
    import memray

    if memray._memray.get_symbolic_support() is memray._memray.SymbolicSupport.TOTAL:
        return ()
    return (
        "native symbols can't be read here: allocations of the interpreter's own, and those of "
        "TorchScript functions, count as the backend's",
    )
