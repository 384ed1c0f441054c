"""Reports to render, made by hand so that each test knows every number in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.result import (
    Cost,
    Count,
    Finding,
    Report,
    RuleResult,
    Step,
    Survivors,
    Teardown,
)


def step(cycle: int, index: int, phase: str = "steady", **owners: tuple[int, int]) -> Step:
    counts = {owner: Count(*count) for owner, count in owners.items()}
    return Step(
        cycle=cycle,
        index=index,
        frames=(4 * index, 4 * index + 3),
        width=128,
        height=96,
        phase=phase,  # type: ignore[arg-type]
        allocations=sum(count.allocations for count in counts.values()),
        bytes=sum(count.bytes for count in counts.values()),
        by_owner=counts,
        live_bytes=4096,
        in_flight=0,
    )


def report(**changes: Any) -> Report:
    values: dict[str, Any] = {
        "schema": 1,
        "verdict": "pass",
        "level": "zero-owned",
        "target": "my.module:factory",
        "workload": "128x96@100*40",
        "seed": 7,
        "rules": (
            RuleResult("steady-allocations", "pass", 0, 0, "no allocation by the backend"),
            RuleResult("teardown-release", "pass", 0, 0, "everything was released"),
        ),
        "steps": (
            step(1, 0, "record", backend=(5, 1_000_000)),
            step(1, 1, "warm-up", backend=(1, 64)),
            *(
                step(cycle, index, backend=(0, 0), model=(1204, 2_943_120))
                for cycle in (1, 2, 3)
                for index in range(2, 8)
            ),
        ),
        "teardown": Teardown(
            {"threads": 1, "live_bytes": 1000},
            {"threads": 2, "live_bytes": 1000},
            (Survivors("runtime", "/lib/python/lazy.py", 4, "load", 3, 12_345),),
        ),
        "cost": Cost(1.25, 98_765),
        "environment": {"python": "3.11", "torch": "2.13.0"},
        "replay": "steadyframe verify my.module:factory --workload 128x96@100*40 --seed 7",
        "cycles": 3,
    }
    return Report(**(values | changes))


def finding(**changes: Any) -> Finding:
    values: dict[str, Any] = {
        "owner": "backend",
        "file": "/nowhere/mine.py",
        "line": 3,
        "function": "execute",
        "frames": (8, 9, 10, 11, 20),
        "count": 1234,
        "bytes": 8_257_536,
        "cycle": 1,
        "stack": (("execute", "/nowhere/mine.py", 3), ("main", "/nowhere/app.py", 99)),
        "text": "One tensor of 49,152 bytes is allocated on every steady step.",
    }
    return Finding(**(values | changes))


def failed(*findings: Finding, rule: str = "steady-allocations", **changes: Any) -> Report:
    result = RuleResult(rule, "fail", 1234, 0, "the backend allocates", findings)
    return report(verdict="fail", rules=(result,), **changes)


@pytest.fixture(name="make_report")
def _make_report() -> Callable[..., Report]:
    return report


@pytest.fixture(name="make_failed")
def _make_failed() -> Callable[..., Report]:
    return failed


@pytest.fixture(name="make_finding")
def _make_finding() -> Callable[..., Finding]:
    return finding


@pytest.fixture(name="make_step")
def _make_step() -> Callable[..., Step]:
    return step
