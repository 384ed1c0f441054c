"""Whose allocation it is, in one real run that allocates in many ways."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness import isolate
from harness.owners import Owners
from harness.plan import plan_steps
from harness.probes import trace
from harness.reading import build
from harness.result import Report
from harness.spec import TRACE, RunSpec
from harness.timeline import layout
from harness.verify import verify
from harness.workload import Workload

FILE = Path(__file__).parent / "parts.py"
WORKLOAD = "16x16@25*16"

EXPECTED = {
    "eager": "model",
    "callback": "model",
    "script": "model",
    "script forward": "model",
    "script function": "model",
    "worker": "backend",
    "push": "backend",
    "pull": "backend",
    "strdup": "backend",
    "compare": "backend",
}


def line_of(name: str) -> int:
    lines = FILE.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# here: {name}"))


@pytest.fixture(scope="module")
def report() -> Report:
    return verify(f"{FILE}:Parts", WORKLOAD, level="zero-malloc", quick=True)


def test_every_line_that_allocates_is_named_with_its_owner(report: Report) -> None:
    assert report.failure is None
    steady = next(rule for rule in report.rules if rule.rule == "steady-allocations")
    named = sorted((f.line, f.owner) for f in steady.findings if Path(f.file).name == FILE.name)
    assert named == sorted((line_of(name), owner) for name, owner in EXPECTED.items())
    # One more line, or an owner's share that went elsewhere, is one too many.
    assert len(steady.findings) == len(EXPECTED)


def test_every_steady_step_has_the_same_counts(report: Report) -> None:
    counts = [
        {owner: (count.allocations, count.bytes) for owner, count in step.by_owner.items()}
        for step in report.steps
        if step.phase == "steady"
    ]
    assert len(counts) == 3 * 8
    assert all(each == counts[0] for each in counts)


def test_the_totals_add_up_to_those_of_the_trace() -> None:
    spec = RunSpec(
        target=f"{FILE}:Parts",
        options={},
        workload=WORKLOAD,
        video=None,
        cycles=1,
        instrument="trace",
        seed=0,
        patience_s=10,
        sys_path=tuple(sys.path),
        cwd=str(FILE.parent),
    )
    plan = plan_steps(Workload.parse(WORKLOAD), 8, "rgb24")
    intervals = layout(1, plan)
    with isolate.run(spec, 60, lambda *_: None) as ended:
        path = ended.folder / TRACE
        timeline = build(trace.read(path), intervals, Owners())
        counted = allocations_by_interval(path, len(intervals))
    sums = [sum(born.count for born in births.values()) for births in timeline.births]
    assert sums == counted
    assert min(counted) > 0  # the harness's own are among them


def allocations_by_interval(path: Path, intervals: int) -> list[int]:
    """Counted once more, by nothing but the kind of each record."""
    counts = [0] * (intervals + 1)
    now = 0
    for record in trace.read(path):
        if record.allocator in (*trace.FREES, trace.MUNMAP):
            continue
        if record.size == trace.MARK_SIZE and trace.is_mark(record):
            now += 1
            if now > intervals:
                break
        else:
            counts[now] += 1
    return counts[1:]
