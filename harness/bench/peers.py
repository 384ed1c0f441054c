"""Side by side on one workload: a plain run, screening, verify, Valgrind's memcheck and heaptrack.

What runs is a backend in plain Python and C, sound or with one of a handful of faults: with torch,
memcheck takes minutes to start. The tools that report totals of the whole process, that is
memcheck and heaptrack, are given what nobody has in practice: the same run of the sound backend to
compare with. A fault counts as found by them if a total of theirs is worse than there.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import isolate, screening
from harness.plan import plan_steps
from harness.spec import RunSpec
from harness.verify import verify
from harness.workload import Workload

SOUND = "backend.faults.green.grow_only_arena:Backend"
FAULTS = {
    name: f"backend.faults.{name.replace('-', '_')}:Faulty"
    for name in (
        "two-buffers-per-frame",
        "lost-through-pointer",
        "tuples-kept",
        "capacity-not-equal",
        "request-frame-cycle",
        "descriptor-left",
        "thread-left",
    )
}
"""targets by name; none of them imports torch"""
WORKLOAD = "64x64@25*60,32x32@25*60,64x64@25*60"
CYCLES = 3
_LEAK_KINDS = "definitely lost", "indirectly lost"

Tool = Callable[[str, dict[str, int]], str]
"""Runs a target and says what it found, "" for nothing. The totals of the sound backend,
which is run first, are kept in the dict."""


def main() -> int:
    """Print the table."""
    print(f"Workload {WORKLOAD}, {CYCLES} cycles. Seconds are those of a whole command")
    print("on the sound backend; for screening and verify, of a call in a process that goes on")
    print("(its first call has torch imported once, a second or two).\n")
    isolate.prestart()
    screen(SOUND, {})
    print(f"{'':<12}{'seconds':>8}{'ratio':>7}  " + "".join(f"{name:<24}" for name in FAULTS))
    base = 0.0
    for title, tool, program in (
        ("plain", plain, None),
        ("screening", screen, None),
        ("verify", verified, None),
        ("memcheck", memcheck, "valgrind"),
        ("heaptrack", heaptrack, "heaptrack"),
    ):
        if program is not None and shutil.which(program) is None:
            print(f"{title:<12}missing: {program} is not installed")
            continue
        totals: dict[str, int] = {}
        started = time.perf_counter()
        alarm = tool(SOUND, totals)
        seconds = time.perf_counter() - started
        base = base or seconds
        cells = [tool(target, totals) or "-" for target in FAULTS.values()]
        print(f"{title:<12}{seconds:>8.2f}{seconds / base:>7.1f}  ", end="")
        print("".join(f"{cell:<24}" for cell in cells).rstrip(), flush=True)
        if alarm:
            print(f"{'':<12}FALSE ALARM on the sound backend: {alarm}")
    print()
    for name, target in FAULTS.items():
        fault = importlib.import_module(target.partition(":")[0]).FAULT
        print(f"{name:<24}{fault.about}")
    return 0


def plain(target: str, _: dict[str, int]) -> str:
    """Nothing watches it."""
    _run([], target)
    return ""


def screen(target: str, _: dict[str, int]) -> str:
    """The numbers that rise."""
    plan = plan_steps(Workload.parse(WORKLOAD), 8, "rgb24")
    spec = RunSpec(
        target=target,
        options={},
        workload=WORKLOAD,
        video=None,
        cycles=CYCLES,
        instrument="screen",
        seed=0,
        patience_s=10,
        sys_path=tuple(sys.path),
        cwd=os.getcwd(),
    )
    with isolate.run(spec, 60, lambda *_: None) as ended:
        if ended.failure is not None:
            return ended.failure.kind
        grown = screening.find(screening.read(ended.folder, plan, CYCLES))
    return _first([growth.field.replace("_", " ") for growth in grown])


def verified(target: str, _: dict[str, int]) -> str:
    """The rules that fail."""
    report = verify(target, WORKLOAD, cycles=CYCLES)
    if report.failure is not None:
        return report.failure.kind
    return _first([rule.rule for rule in report.rules if rule.status == "fail"])


def memcheck(target: str, totals: dict[str, int]) -> str:
    """More blocks that nothing points to than with the sound backend."""
    # Without this, memcheck sees arenas and not the objects in them.
    environment = os.environ | {"PYTHONMALLOC": "malloc"}
    command = ["valgrind", "--tool=memcheck", "--leak-check=full", "--show-leak-kinds=none"]
    said = _run(command, target, environment)
    found = {kind: _number(rf"{kind}: .* in ([\d,]+) blocks", said) for kind in _LEAK_KINDS}
    return _worse(found, totals)


def heaptrack(target: str, totals: dict[str, int]) -> str:
    """More allocations, or more of them without a release, than with the sound backend."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        said = _run(["heaptrack", "-o", str(Path(folder) / "data")], target)
    found = {
        "leaked": _number(r"leaked allocations:\s+(\d+)", said),
        "allocations": _number(r"\sallocations:\s+(\d+)", said),
    }
    return _worse(found, totals)


def _run(under: list[str], target: str, environment: dict[str, str] | None = None) -> str:
    """Drive a backend with nothing measured, under a command; all that it printed."""
    program = [sys.executable, "-m", "harness.bench.plain", target, WORKLOAD, str(CYCLES)]
    variables = (environment or dict(os.environ)) | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*under, *program],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout


def _number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    return int(found[1].replace(",", "")) if found else 0


def _worse(found: dict[str, int], totals: dict[str, int]) -> str:
    if not totals:
        totals.update(found)
        return ""
    return _first([f"{key} +{n - totals[key]}" for key, n in found.items() if n > totals[key]])


def _first(words: list[str]) -> str:
    """The first of several, and how many more there are."""
    if not words:
        return ""
    return words[0] + (f" +{len(words) - 1}" if len(words) > 1 else "")


if __name__ == "__main__":
    raise SystemExit(main())
