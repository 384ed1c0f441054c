"""What the tests of the gate share: a project in a folder, and reports made by hand."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness import cli
from harness.gate.case import Case
from harness.result import Cost, Count, Failure, Finding, Report, RuleResult, Step, Teardown

ENVIRONMENT: dict[str, Any] = {
    "python": "3.11.7",
    "torch": "2.13.0+cpu",
    "numpy": "2.4.6",
    "memray": "1.20.0",
    "libc": "glibc 2.36",
    "machine": "x86_64",
    "allocator": "glibc",
    "cpu_capability": "AVX512",
    "torch_threads": 1,
    "processor": "made by hand",
    "variables": {"OMP_NUM_THREADS": "1", "LD_LIBRARY_PATH": "/anywhere"},
}


def gate(folder: Path, *arguments: str) -> int:
    """Run the command in a folder; its exit code."""
    with contextlib.chdir(folder):
        return cli.main(["gate", *arguments])


def project(folder: Path, *names: str, more: str = "") -> Path:
    """A project that declares cases of these names, each a file of its own."""
    tables = "".join(
        f'[[tool.steadyframe.cases]]\nname = "{name}"\ntarget = "{name}.py:Backend"\n'
        f'workload = "64x64@25*14,32x32@25*12,64x64@25*12"\nquick = true\n'
        for name in names
    )
    (folder / "pyproject.toml").write_text(tables + more)
    return folder


def finding(kind: str = "steady", **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "owner": "backend",
        "file": "/project/mine.py",
        "line": 7,
        "function": "run",
        "frames": (8, 9),
        "count": 2,
        "bytes": 128,
        "cycle": 1,
        "stack": (("run", "/project/mine.py", 7), ("main", "/project/app.py", 3)),
        "kind": kind,
    }
    return Finding(**(values | changes))


def report(
    backend: Sequence[int] = (0, 0), model: Sequence[int] = (600, 9000), **changes: Any
) -> Report:
    """A report in which each owner allocates so much (allocations, bytes) on both steady steps."""
    by_owner = {"backend": Count(*backend), "model": Count(*model)}
    steps = tuple(
        Step(1, n, (n, n), 64, 64, "steady", sum(c.allocations for c in by_owner.values()),
             0, by_owner, 0, 0)
        for n in (8, 9)
    )  # fmt: skip
    fails = backend[0] > 0
    values: dict[str, Any] = {
        "schema": 1,
        "verdict": "fail" if fails else "pass",
        "level": "zero-owned",
        "target": "mine.py:Backend",
        "workload": "64x64@25*14",
        "seed": 0,
        "rules": (
            RuleResult("steady-allocations", "fail" if fails else "pass", backend[0], 0, ""),
            RuleResult("grow-only", "pass", 0, 0, ""),
            RuleResult("teardown-release", "pass", 0, 0, ""),
        ),
        "steps": steps,
        "teardown": Teardown({}, {}),
        "cost": Cost(0.1, 10),
        "environment": ENVIRONMENT,
        "replay": "steadyframe verify mine.py:Backend --level zero-owned --cycles 3",
        "sites": {
            "steady": (finding(count=2 * backend[0], bytes=2 * backend[1]),) if fails else (),
            "growth": (finding("growth", count=1, bytes=8192),),
            "held": (finding("held", count=1, bytes=8192),),
            "first-use": (),
        },
    }
    return Report(**(values | changes))


def crashed() -> Report:
    failure = Failure("crashed", "execute", 1, 3, "the backend crashed with SIGSEGV")
    return report(verdict="no-verdict", failure=failure)


def measures(answers: Callable[[Case], Report]) -> Callable[..., None]:
    """Stands in for harness.gate.measure.measure."""

    def measure(
        cases: Sequence[Case], _p: object, _f: object, _j: int, done: Callable[[Case, Report], None]
    ) -> None:
        for case in cases:
            done(case, answers(case))

    return measure
