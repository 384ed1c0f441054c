"""Planted faults that the ordinary trace does not see, or not by itself, each named at its line."""

from __future__ import annotations

from typing import NoReturn

import pytest

from harness.naming import Named, Namer, merged
from harness.plan import PlannedStep
from harness.result import RuleResult
from harness.screening import Growth, find
from harness.spec import LineGrowth, RunSpec
from harness.timeline import layout
from harness.unseen import blame
from tests.harness.screening.helpers import (
    findings,
    line_of,
    named,
    places,
    screened,
    spec_of,
)

_CHANGES = ",".join(["64x64@25*20,32x32@25*20"] * 4)


@pytest.mark.parametrize(
    ("fault", "field", "count"),
    [
        ("EveryFiftieth", "python_blocks", 4),
        ("TuplePerFrame", "python_blocks", 192),
        ("MallocPerFrame", "heap_bytes", 192),
        ("MallocEveryFiftieth", "heap_bytes", 4),
        ("Memalign", "heap_bytes", 192),
        ("RawMalloc", "heap_bytes", 192),
    ],
)
def test_growth_with_the_frames_is_named(fault: str, field: str, count: int) -> None:
    found = named(spec_of(fault), "frame")
    assert field in {one.growth.field for one in found}
    assert places(found) == {("planted.py", line_of(fault))}
    [finding] = [f for one in found if one.growth.field == field for f in one.findings]
    assert len(finding.frames) == count
    assert finding.kind == "leak-per-frame"
    assert f"planted.py:{finding.line}" in finding.text


def test_what_a_thread_may_fill_by_the_clock_is_no_finding_once_it_is_full() -> None:
    [ring] = named(spec_of("RingOf500"), "frame", threaded=True)
    assert (ring.findings, ring.growth.field) == ((), "python_blocks")
    assert ring.doubt.endswith("over 8 times as many frames it did not go on")
    leak = named(spec_of("TuplePerFrame"), "frame", threaded=True)
    assert places(leak) == {("planted.py", line_of("TuplePerFrame"))}


@pytest.mark.parametrize("fault", ["TuplePerCycle", "MallocPerCycle"])
def test_growth_with_the_cycles_is_named(fault: str) -> None:
    found = named(spec_of(fault, "64x64@25*20"))
    assert {one.growth.pattern for one in found} == {"cycle"}
    assert places(found) == {("planted.py", line_of(fault))}
    assert findings(found)[0].kind == "leak-per-cycle"


def test_growth_with_the_changes_of_resolution_is_named() -> None:
    found = named(spec_of("MallocPerChange", _CHANGES), "change")
    assert places(found) == {("planted.py", line_of("MallocPerChange"))}
    assert findings(found)[0].kind == "leak-per-resolution-change"


@pytest.mark.parametrize("twin", ["Clean", "CleanOnWorker"])
@pytest.mark.parametrize("workload", ["64x64@25*200", _CHANGES])
def test_a_clean_twin_does_not_grow(twin: str, workload: str) -> None:
    assert find(screened(spec_of(twin, workload))) == []


# Models without arithmetic take every way through the backend; large ones add their kernels.
@pytest.mark.parametrize(
    ("model", "mode"),
    [
        *((model, mode) for model in ("identity", "delay", "small") for mode in ("sync", "async")),
        *((model, "async") for model in ("espcn", "srcnn", "dncnn")),
    ],
)
def test_the_reference_backend_does_not_grow(model: str, mode: str) -> None:
    workload = "32x32@100*400,48x48@100*60,32x32@100*60"
    found = named(spec_of(model, workload, {"mode": mode}))
    assert findings(found) == []
    assert {one.growth.pattern for one in found} <= {"cycle"}


def test_the_heap_of_a_clean_backend_is_constant_to_the_byte() -> None:
    screening = screened(spec_of("espcn", "32x32@100*200", {"mode": "sync"}))
    ends = [screening.end("heap_bytes", cycle) for cycle in (1, 2, 3)]
    assert len(set(ends)) == 1
    steady = screening.boundaries("heap_bytes", 3)[6:-2]
    assert len(set(steady)) == 1


def test_growth_on_a_worker_is_named_if_not_alone() -> None:
    # While two threads are at work, the heap grows by what both do: a line at which the worker lets
    # go of the interpreter may be named besides (docs/limits.md).
    found = named(spec_of("MallocOnWorker"), "frame")
    assert ("planted.py", line_of("MallocOnWorker")) in places(found)


def test_a_line_at_which_the_tracer_saw_as_much_is_not_blamed() -> None:
    tensor, pointer, freed = (
        LineGrowth("b.py", 1, "f", 1000),
        LineGrowth("b.py", 2, "f", 32),
        LineGrowth("b.py", 3, "f", -1000),
    )
    assert blame([tensor, pointer, freed], {("b.py", 1): 1030}, 1) == ([pointer], True)
    # Nothing is certain: whichever line added something may be it.
    assert blame([tensor, freed], {("b.py", 1): 1030}, 1) == ([tensor], False)
    assert blame([freed], {}, 1) == ([], False)


def test_a_line_that_added_at_few_of_the_rises_is_left_out_if_another_added_at_most() -> None:
    often, seldom = LineGrowth("b.py", 1, "f", 190 * 32), LineGrowth("b.py", 2, "g", 3 * 32)
    assert blame([often, seldom], {}, 192) == ([often], True)
    assert blame([seldom], {}, 192) == ([seldom], True)


def test_findings_are_merged_into_the_rule_that_judges_their_pattern() -> None:
    passed = RuleResult("steady-growth", "pass", 0, 0, "why")
    found = named(spec_of("MallocEveryFiftieth"), "frame")
    failed = merged(passed, found, ("frame", "change"))
    assert (failed.status, failed.measured, failed.why) == ("fail", 128, "why")
    assert merged(passed, found, ("cycle",)) == passed
    # A line that the rule has found itself is not said twice.
    assert merged(failed, found, ("frame",)) == failed


def test_a_growth_covers_what_lies_between_its_points() -> None:
    growth = Growth("heap_bytes", "frame", 1, (4, 8, 12, 16), (6, 10, 16), 96)
    assert growth.window == (5, 16)


def test_memory_of_a_gpu_is_told_in_bytes_and_names_no_line() -> None:
    steps = [PlannedStep(n, n, n, 8, 8, "steady") for n in range(9)]
    growth = Growth("cuda_bytes", "frame", 1, (3, 5, 7, 9), (4, 6, 8), 1536)

    def no_run(spec: RunSpec) -> NoReturn:
        raise AssertionError(f"no run shows more: {spec.instrument}")

    [finding] = Namer(spec_of("Clean"), layout(1, steps), (), no_run).name(growth).findings
    assert finding.text == "1,536 bytes of GPU memory more: their number grows with the frames"
    assert (finding.kind, finding.count, finding.bytes) == ("leak-per-frame", 3, 1536)
    assert finding.frames == (3, 5, 7)


def test_growth_that_is_held_against_nobody_is_told_in_a_note() -> None:
    growth = Growth("python_blocks", "frame", 1, (3, 5, 7, 9), (4, 6, 8), 30)
    assert Named(growth, ()).doubt == ""
    assert Named(growth, (), "no object is kept").doubt == (
        "30 small Python objects more with the frames are no finding: no object is kept"
    )
