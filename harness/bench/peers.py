"""Side by side on one workload: a plain run, screening, verify, Valgrind's memcheck and heaptrack.

What runs is a backend in plain Python and C, sound and with one of a handful of faults: with torch,
memcheck takes minutes to start. The tools that report totals of the whole process, memcheck and
heaptrack, are given what nobody has in practice: the same run of the sound backend to compare with.
A fault counts as found by them if a total of theirs is worse than there.
"""

from __future__ import annotations

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
from harness.bench import faulty
from harness.plan import plan_steps
from harness.spec import RunSpec
from harness.verify import verify
from harness.workload import Workload

WORKLOAD = "64x64@25*60,32x32@25*60,64x64@25*60"
CYCLES = 3
_LEAK_KINDS = "definitely lost", "indirectly lost"

Tool = Callable[[str, dict[str, int]], str]
"""Runs a backend by name and says what it found, "" for nothing. The totals of the sound backend,
which is run first, are kept in the dict."""


def main() -> int:
    """Print the table."""
    print(f"Workload {WORKLOAD}, {CYCLES} cycles. Seconds are those of a whole command")
    print("on the sound backend; for screening and verify, of a call in a process that goes on")
    print("(its first call has torch imported once, a second or two).\n")
    isolate.prestart()
    screen("Sound", {})
    names = ["Sound", *(fault.__name__ for fault in faulty.FAULTS)]
    print(f"{'':<12}{'seconds':>8}{'ratio':>7}  " + "".join(f"{name:<24}" for name in names[1:]))
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
        alarm = tool("Sound", totals)
        seconds = time.perf_counter() - started
        base = base or seconds
        cells = [tool(name, totals) or "-" for name in names[1:]]
        print(f"{title:<12}{seconds:>8.2f}{seconds / base:>7.1f}  ", end="")
        print("".join(f"{cell:<24}" for cell in cells).rstrip(), flush=True)
        if alarm:
            print(f"{'':<12}FALSE ALARM on the sound backend: {alarm}")
    print()
    for fault in faulty.FAULTS:
        print(f"{fault.__name__:<18}{fault.__doc__}")
    return 0


def plain(name: str, _: dict[str, int]) -> str:
    """Nothing watches it."""
    _run([], name)
    return ""


def screen(name: str, _: dict[str, int]) -> str:
    """The numbers that rise."""
    plan = plan_steps(Workload.parse(WORKLOAD), 8, "rgb24")
    spec = RunSpec(
        target=f"{faulty.__name__}:{name}",
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


def verified(name: str, _: dict[str, int]) -> str:
    """The rules that fail."""
    # It lies in the harness's own folder, whose allocations count for nothing.
    owners = [("backend", str(faulty.__file__))]
    report = verify(f"{faulty.__name__}:{name}", WORKLOAD, cycles=CYCLES, owners=owners)
    if report.failure is not None:
        return report.failure.kind
    return _first([rule.rule for rule in report.rules if rule.status == "fail"])


def memcheck(name: str, totals: dict[str, int]) -> str:
    """More blocks that nothing points to than with the sound backend."""
    # Without this, memcheck sees arenas and not the objects in them.
    environment = os.environ | {"PYTHONMALLOC": "malloc"}
    command = ["valgrind", "--tool=memcheck", "--leak-check=full", "--show-leak-kinds=none"]
    said = _run(command, name, environment)
    found = {kind: _number(rf"{kind}: .* in ([\d,]+) blocks", said) for kind in _LEAK_KINDS}
    return _worse(found, totals)


def heaptrack(name: str, totals: dict[str, int]) -> str:
    """More allocations, or more of them without a release, than with the sound backend."""
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        said = _run(["heaptrack", "-o", str(Path(folder) / "data")], name)
    found = {
        "leaked": _number(r"leaked allocations:\s+(\d+)", said),
        "allocations": _number(r"\sallocations:\s+(\d+)", said),
    }
    return _worse(found, totals)


def _run(under: list[str], name: str, environment: dict[str, str] | None = None) -> str:
    """Drive a backend with nothing measured, under a command; all that it printed."""
    program = [sys.executable, "-m", "harness.bench.plain", name, WORKLOAD, str(CYCLES)]
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
