"""verify() on planted faults: the right rule, at the right line; and nothing of a repaired twin."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness import arguments
from harness.result import Report
from harness.verify import verify
from tests.harness.core import planted
from tests.harness.core.helpers import (
    PLANTED,
    PLANTED_TEARDOWN,
    failed,
    file_of,
    line_of,
    places,
    rule,
    run_planted,
)

SIZES = "64x64@25*12,48x48@25*12,64x64@25*12"
LONG = "64x64@25*200"

LEAKS = {
    "Kept": ("64x64@25*20", {"steady-allocations", "steady-growth"}),
    "Churn": ("64x64@25*20", {"steady-allocations", "grow-only"}),
    "View": ("64x64@25*20", {"steady-allocations"}),
    "Shrinks": (SIZES, {"grow-only"}),
    "GrowsLate": ("64x64@25*20", {"grow-only"}),
    "Registry": ("64x64@25*10", {"teardown-release"}),
    "Cycle": ("64x64@25*10", {"prompt-release"}),
    "SeldomLeak": (LONG, {"steady-allocations", "steady-growth", "teardown-release"}),
    "AllocatingWorker": ("64x64@100*60", {"steady-allocations"}),
}


@pytest.mark.parametrize("name", LEAKS)
def test_the_right_rule_fails_at_the_right_line(name: str) -> None:
    workload, rules = LEAKS[name]
    report = run_planted(name, workload)
    assert report.verdict == "fail"
    assert set(failed(report)) == rules
    file = file_of(name)
    for rule_name in rules:
        findings = rule(report, rule_name).findings
        assert places(findings) == [("backend", file.name, line_of(f"fault: {name}", file))]
        assert findings[0].stack[0][2] == findings[0].line


@pytest.mark.parametrize("name", LEAKS)
def test_the_repaired_twin_passes(name: str) -> None:
    report = run_planted(f"{name}Repaired", LEAKS[name][0])
    assert (report.verdict, failed(report), report.failure) == ("pass", [], None)


RESOURCES = {
    "LeavesThread": "left-thread",
    "LeavesDescriptor": PLANTED_TEARDOWN.name,
    "LeavesChild": "sleep",
    "LeavesSharedMemory": "/dev/shm/",
    "LeavesMapping": "(deleted)",
}


@pytest.mark.parametrize("name", RESOURCES)
def test_a_resource_that_is_left_behind_is_named_and_its_twin_passes(name: str) -> None:
    result = rule(run_planted(name, "32x32@25*10"), "teardown-resources")
    assert result.status == "fail"
    assert all(RESOURCES[name] in finding.text for finding in result.findings)
    assert sum(finding.count for finding in result.findings) == result.measured
    assert run_planted(f"{name}Repaired", "32x32@25*10").verdict == "pass"


def test_frames_seen_are_those_of_the_steps_at_fault() -> None:
    finding = rule(run_planted("Shrinks", SIZES), "grow-only").findings[0]
    # The step down to 48x48 makes a block of more than a page too.
    assert finding.frames == (12, 24)
    assert finding.cycle == 1
    assert finding.count == 2 * 3


def test_a_kept_frame_is_the_sources_memory() -> None:
    report = run_planted("KeepsInput")
    assert failed(report) == ["steady-growth"]
    assert {finding.owner for finding in rule(report, "steady-growth").findings} == {"source"}
    assert run_planted("KeepsInputRepaired").verdict == "pass"


def test_first_use_is_listed_and_not_held_against_the_backend() -> None:
    report = run_planted("FirstUse", "32x32@25*10")
    assert report.verdict == "pass"
    at = [(s.line, s.count, s.bytes) for s in report.teardown.first_use_survivors]
    assert at == [(line_of("first use", PLANTED_TEARDOWN), 1, 5001)]


def test_a_slot_that_each_cycle_overwrites_is_no_leak() -> None:
    assert run_planted("Slot", "32x32@25*10").verdict == "pass"
    assert run_planted("Slot", "32x32@25*10", cycles=5).verdict == "pass"


# ownership


def steady_owners(report: Report) -> set[str]:
    return {owner for step in report.steps if step.phase == "steady" for owner in step.by_owner}


SCRIPT = PLANTED.with_name("planted_script.py")
MODELS = {
    f"{PLANTED}:OwnsModel": [("planted.py", line_of("the model's"))],
    f"{PLANTED}:CallsBack": [
        ("planted.py", line_of("called back")),
        ("planted.py", line_of("the model's")),
    ],
    f"{SCRIPT}:OwnsScript": [("planted_script.py", line_of("call of the script", SCRIPT))],
}


@pytest.mark.parametrize("target", MODELS)
def test_what_is_below_a_model_call_is_the_models(target: str) -> None:
    report = verify(target, "64x64@25*20", quick=True)
    assert (report.verdict, failed(report)) == ("pass", [])
    assert steady_owners(report) == {"model"}
    counted = verify(target, "64x64@25*20", level="zero-malloc", cycles=1, quick=True)
    assert failed(counted) == ["steady-allocations"]
    found = places(rule(counted, "steady-allocations").findings)
    assert sorted(found) == sorted(("model", *place) for place in MODELS[target])


def test_level_zero_growth_accepts_churn_and_not_growth() -> None:
    churn = run_planted("Churn", level="zero-growth")
    assert churn.verdict == "pass"
    assert rule(churn, "steady-allocations").status == "skipped"
    assert failed(run_planted("Kept", level="zero-growth")) == ["steady-growth"]


def test_a_user_rule_changes_the_owner() -> None:
    report = run_planted("Churn", owners=[("model", "*/planted.py")])
    assert report.verdict == "pass"
    assert steady_owners(report) == {"model"}


# numbers


def counts(report: Report) -> list[object]:
    return [
        (s.cycle, s.index, s.phase, s.allocations, s.bytes, s.live_bytes, s.in_flight, s.by_owner)
        for s in report.steps
    ]


@pytest.fixture
def busy() -> Iterator[None]:
    """Keeps every core busy."""
    spins = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    yield
    for spin in spins:
        spin.kill()
        spin.wait()


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("name", ["OwnsModel", "AllocatingWorker"])
def test_counts_are_the_same_in_every_run_on_a_loaded_machine(name: str) -> None:
    runs = [counts(run_planted(name, "64x64@100*60", cycles=1)) for _ in range(5)]
    assert all(run == runs[0] for run in runs)


def test_steps_add_up() -> None:
    report = run_planted("CallsBack", SIZES.replace("@25", "@100"))
    assert [s.cycle for s in report.steps] == sorted(s.cycle for s in report.steps)
    assert len(report.steps) == 3 * 9
    assert {s.phase for s in report.steps} == {"record", "warm-up", "steady"}
    for step in report.steps:
        assert step.allocations == sum(c.allocations for c in step.by_owner.values()) > 0
        assert step.bytes == sum(c.bytes for c in step.by_owner.values()) > 0
    one_cycle = [s for s in report.steps if s.cycle == 1]
    assert [s.frames for s in one_cycle] == [(n, n + 3) for n in range(0, 36, 4)]
    steady = [s for s in report.steps if s.phase == "steady"]
    assert len({(s.allocations, s.bytes) for s in steady}) == 1
    assert rule(report, "steady-allocations").measured == 0


def test_a_rule_measures_what_the_steps_show() -> None:
    report = run_planted("Kept")
    steady = [s for s in report.steps if s.phase == "steady"]
    total = sum(s.by_owner["backend"].allocations for s in steady)
    assert rule(report, "steady-allocations").measured == total
    grown = [
        b.live_bytes - a.live_bytes for a, b in zip(report.steps, report.steps[1:], strict=False)
    ]
    assert all(grown[s.index] > 0 for s in steady if s.index < 19)


@pytest.mark.parametrize("cycles", [1, 2])
def test_too_few_cycles_skip_the_rule_that_needs_three(cycles: int) -> None:
    report = run_planted("Registry", "32x32@25*10", cycles=cycles)
    result = rule(report, "teardown-release")
    assert result.status == "skipped"
    assert "3 cycles" in result.why
    assert report.verdict == "pass"
    assert {step.cycle for step in report.steps} == set(range(1, cycles + 1))


def test_one_cycle_holds_every_resource_against_the_backend() -> None:
    assert failed(run_planted("LeavesDescriptor", "32x32@25*10", cycles=1)) == [
        "teardown-resources"
    ]


# backends that hold frames back


def in_flight(report: Report) -> list[int]:
    return [step.in_flight for step in report.steps]


def test_held_frames_are_counted_and_cost_no_time_out_on_each_step() -> None:
    report = run_planted("HoldsUntilFlush", "32x32@25*60", cycles=1)
    assert report.failure is None
    assert in_flight(report) == list(range(1, 61))
    assert report.cost.wall_s < 12  # a time-out on each of 60 steps is 15 s


@pytest.mark.parametrize(
    ("name", "workload", "held"),
    [
        ("LagsTwo", "32x32@25*12", [1] + [2] * 11),
        ("LagsTwo", "32x32@100*12", [2] * 3),
        ("Batches", "32x32@25*12", [1, 2, 3, 0] * 3),
        ("Batches", "32x32@100*12", [0] * 3),
    ],
)
def test_frames_held_back_at_the_end_of_each_step(
    name: str, workload: str, held: list[int]
) -> None:
    assert in_flight(run_planted(name, workload, cycles=1)) == held


def test_a_worker_that_sleeps_over_its_frames_is_waited_for() -> None:
    # 40 frames of 10 ms in a step are longer than any fixed wait.
    report = run_planted("SleepingWorker", "16x16@1000*120", cycles=1)
    assert in_flight(report) == [0, 0, 0]


# the command that does it again


def test_the_replay_command_parses_back_to_the_same_run() -> None:
    report = run_planted(
        "Churn",
        "32x32:gray8@25*10",
        cycles=2,
        warmup=3,
        seed=7,
        level="zero-malloc",
        owners=[("model", "*/a folder/*")],
    )
    words = shlex.split(report.replay)
    assert words[:2] == ["steadyframe", "verify"]
    told = arguments.read(arguments.make_parser(), words[1:])
    assert told.target == f"{PLANTED}:Churn"
    assert str(told.workload) == "32x32:gray8@25*10"
    assert (told.cycles, told.warmup, told.seed) == (2, 3, 7)
    assert told.level == "zero-malloc"
    assert told.owner == [("model", "*/a folder/*")]


def test_a_callable_is_named_so_that_another_process_finds_it() -> None:
    assert verify(planted.Slot, "32x32@25*4", quick=True).target.endswith("planted:Slot")
