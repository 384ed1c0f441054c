"""What this machine can and can't measure: each check by itself, with a remedy for each lack.

The last check is the measurement itself: a backend that keeps one buffer must show no allocation,
and one that takes a buffer for each frame must be found out.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata, util

from harness import preconditions
from harness.checks import Check
from harness.errors import UsageError

_PACKAGES = ("torch", "memray", "psutil", "numpy", "av", "msgspec", "rich", "jinja2", "plotly")
_OPTIONAL = {
    "pytest": "the pytest plugin",
    "hypothesis": "harness.strategies, for property tests",
}
_TOOLS = {"valgrind": "`make bench`", "heaptrack": "`make bench`"}
_LEAST_TEMP = 1 << 30
"""Bytes. A trace of ten million events has some 200 MB, and two runs may be on at once."""
_SOUND = "backend.faults.green.grow_only_arena:Backend"
_FAULTY = "backend.faults.two_buffers_per_frame:Faulty"
_WORKLOAD = "64x64@25*20"


def examine() -> Iterator[Check]:
    """All checks, the quick ones first. Those that start a process are left out if a check before
    says that nothing can be measured."""
    possible = True
    for check in _quick():
        possible = possible and check.state != "bad"
        yield check
    if possible:
        yield from _measured()


def _quick() -> Iterator[Check]:
    yield _system()
    yield _python()
    yield from _packages()
    yield from _symbols()
    yield _room()
    yield _descriptors()
    yield _processors()
    yield _native()
    yield from _tools()


def _system() -> Check:
    seen = f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver()) or 'no libc'}"
    try:
        preconditions.require()
    except UsageError as error:
        what, _, remedy = str(error).rpartition(": ")
        return Check("system", "bad", f"{seen}: {what}", remedy)
    return Check("system", "good", seen)


def _python() -> Check:
    seen = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
        return Check("python", "bad", seen, "use CPython 3.11 or later")
    return Check("python", "good", seen)


def _packages() -> Iterator[Check]:
    found, lacking = [], []
    for name in _PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lacking.append(name)
    if lacking:
        yield Check(
            "packages", "bad", f"missing: {', '.join(lacking)}", f"pip install {' '.join(lacking)}"
        )
    else:
        yield Check("packages", "good", ", ".join(found))
    for name, use in _OPTIONAL.items():
        if util.find_spec(name) is None:
            yield Check(name, "poor", f"missing: needed for {use}", f"pip install {name}")


def _symbols() -> Iterator[Check]:
    if util.find_spec("memray") is None:
        return
    if lacks := preconditions.symbol_notes():
        remedy = "install a memray whose wheel was built with libbacktrace"
        yield Check("native symbols", "poor", lacks[0], remedy)
    else:
        yield Check("native symbols", "good", "can be read")


def _room() -> Check:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    seen = f"{free / (1 << 30):,.1f} GiB free in {folder}"
    if free < _LEAST_TEMP:
        return Check("room for traces", "poor", seen, "make room there, or set TMPDIR")
    return Check("room for traces", "good", seen)


def _descriptors() -> Check:
    if os.stat("/proc/self/fd").st_size:
        return Check("descriptors", "good", "the kernel counts them")
    seen = "the kernel does not count them, so that they are listed: soak runs are slower"
    return Check("descriptors", "poor", seen, "Linux 6.2 or later has the count")


def _processors() -> Check:
    count = len(os.sched_getaffinity(0))
    if count < 2:
        remedy = "with two, the traced run and those beside it share the work"
        return Check("processors", "poor", "1", remedy)
    return Check("processors", "good", f"{count}")


def _native() -> Check:
    if util.find_spec("backend.planned._native") is None:
        seen = "missing: there was no C compiler when steadyframe was installed; plans run slower"
        remedy = "install a C compiler, then steadyframe once more"
        return Check("planned executor's code", "poor", seen, remedy)
    return Check("planned executor's code", "good", "compiled")


def _tools() -> Iterator[Check]:
    for name, use in _TOOLS.items():
        if shutil.which(name) is None:
            yield Check(name, "poor", f"missing: {use} shows it as such", f"install {name}")


def _measured() -> Iterator[Check]:
    from harness.verify import verify

    started = time.monotonic()
    first = verify(_SOUND, _WORKLOAD, quick=True)
    took = time.monotonic() - started
    started = time.monotonic()
    second = verify(_FAULTY, _WORKLOAD, quick=True)
    again = time.monotonic() - started
    for note in first.notes:
        yield Check("measured process", "poor", note, "see the README, What it cannot see")
    yield _verdict("a backend that allocates nothing", _SOUND, first.verdict, "pass")
    yield _verdict("a backend that allocates per frame", _FAULTY, second.verdict, "fail")
    seen = f"first run {took:.1f} s, the next {again:.1f} s: helpers are forked, not started anew"
    yield Check("speed", "good" if again < took else "poor", seen)


def _verdict(what: str, target: str, verdict: str, expected: str) -> Check:
    seen = f"verdict {verdict}"
    if verdict == expected:
        return Check(what, "good", seen)
    remedy = f"`steadyframe verify {target} --workload {_WORKLOAD}` shows why"
    return Check(what, "bad", f"{seen}, expected {expected}", remedy)
