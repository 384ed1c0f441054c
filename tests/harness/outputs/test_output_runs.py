"""The rule `output` on real runs: every planted fault by kind and frame, its twin passes."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import isolate, targets
from harness.contract import Contract
from harness.output_runs import describe, gather
from harness.result import RuleResult
from harness.rules import output
from harness.spec import RunSpec
from harness.timeline import Timeline

PLANTED = Path(__file__).parent / "planted_outputs.py"
SIZES = "64x64@100*20,32x32@25*10,64x64@100*8"
FRAMES = 38


def verdict(target: str, workload: str = SIZES, **changes: Any) -> RuleResult:
    """What the rule says of a planted backend, or of another target."""
    if target[0].isupper():
        target = f"{PLANTED}:{target}"
    values: dict[str, Any] = {
        "target": targets.resolve(target),
        "options": {},
        "workload": workload,
        "video": None,
        "cycles": 2,
        "instrument": "trace",
        "seed": 0,
        "patience_s": 10.0,
        "sys_path": tuple(sys.path),
        "cwd": os.getcwd(),
    }
    run = functools.partial(isolate.run, timeout=20.0, watch=lambda at, folder: None)  # noqa: ARG005
    timeline = Timeline([], [], [], 2)
    timeline.outputs = gather(RunSpec(**(values | changes)), run)
    return output.check(timeline, Contract())


FAULTS: dict[str, tuple[str, tuple[int, ...], str]] = {
    "StaleBuffer": ("wrong-data", tuple(range(1, 38)), "20 of 20 values differ, by at most 64"),
    "StaleSize": ("stale-size", (20, 30), "has the size of the frame before, as frame 19"),
    "PreviousFrame": (
        "other-frame",
        tuple(n for n in range(1, 38) if n not in (20, 30)),
        "frame 1's result is that of frame 0",
    ),
    "Swaps": ("out-of-order", (12, 13), "frame 12's result is that of frame 13"),
    "WrongPts": ("wrong-pts", tuple(range(1, 38)), "frame 1 has pts 0 instead of 1"),
    "Loses": ("missing-result", (7,), "frame 7 has no result"),
    "Twice": ("extra-result", (7,), "frame 7 has more than one result"),
    "WrongFormat": ("wrong-shape", tuple(range(5, 38)), "is uint8 (64, 64) instead of"),
    "Unreadable": (
        "unreadable",
        (5,),
        "can't be used: a result whose data raises OSError",
    ),
    "OffByOne": ("wrong-data", tuple(range(9, 38)), "first at [2, 1, 0]: 83 instead of 80; 1 of"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_told_by_its_kind_and_frames(name: str) -> None:
    kind, frames, words = FAULTS[name]
    result = verdict(name)
    assert result.status == "fail"
    (finding,) = result.findings
    assert (finding.kind, finding.frames, finding.cycle) == (kind, frames, 1)
    assert words in finding.text
    assert result.measured == finding.count == 2 * len(frames)


def test_what_flush_throws_away_is_missed_though_every_frame_had_its_result() -> None:
    result = verdict("LosesAtFlush")
    (finding,) = result.findings
    assert (finding.kind, finding.count, finding.frames) == ("lost-at-flush", 2, ())
    assert f"all {FRAMES} frames have a result, though none has one" in finding.text


GREEN = ["Repaired", "StaleBufferRepaired", "Batches", "Doubles", "reference", "delay", "Average"]


@pytest.mark.parametrize("name", GREEN)
def test_what_is_right_passes(name: str) -> None:
    result = verdict(name, cycles=1)
    assert (result.status, result.measured, result.findings) == ("pass", 0, ())
    assert f"all {FRAMES} compared" in result.why


@pytest.mark.parametrize("model", ["small", "delay"])
def test_the_reference_backend_passes_in_async_mode(model: str) -> None:
    assert verdict(model, options={"mode": "async", "nireq": 3}).status == "pass"


def test_state_that_is_not_declared_fails_with_a_hint_and_passes_when_declared() -> None:
    result = verdict("UndeclaredAverage")
    assert "declare the backend stateful" in result.findings[0].text
    assert verdict("UndeclaredAverage", stateful=True).status == "pass"
    broken = verdict("BrokenAverage", "32x32@100*20", cycles=1)
    assert broken.status == "fail"
    assert "second instance fed one by one" in broken.findings[0].text
    assert "declare" not in broken.findings[0].text


def test_frames_dropped_by_design_are_not_owed_by_a_stateful_backend() -> None:
    result = verdict("DropsOdd", "32x32@25*6", cycles=1)
    assert (result.status, result.why.endswith("all 3 compared")) == ("pass", True)


SKIPPED = {
    "LosesFlat": "37 results came of 38",
    "Random": "two references of the same frame disagree",
    "SometimesRandom": "(frames: 3)",
    "Opaque": "type object can't be compared",
    "NeedsTwoFrames": "RuntimeError: closed too early",
}


@pytest.mark.parametrize("name", SKIPPED)
def test_what_can_not_be_judged_is_skipped_with_the_reason(name: str) -> None:
    result = verdict(name, cycles=1)
    assert (result.status, result.measured) == ("skipped", 0)
    assert SKIPPED[name] in result.why


def test_a_budget_that_is_spent_leaves_frames_out_and_says_which() -> None:
    result = verdict("SlowToOpen", cycles=1, budget_s=0.15)
    assert result.status == "pass"
    # At least one, and first of all one of each size.
    assert "2 of 38 compared" in result.why or "3 of 38 compared" in result.why
    assert "1-19, 21-" in result.why


@pytest.mark.parametrize("target", ["reference", "delay"])
def test_digests_leave_nothing_in_the_heap(target: str) -> None:
    from array import array

    from harness.probes.heap import FIELDS
    from harness.spec import SAMPLES

    spec = RunSpec(
        targets.resolve(target),
        {},
        "32x32@25*30",
        None,
        1,
        "screen",
        0,
        10.0,
        tuple(sys.path),
        os.getcwd(),
        digests=True,
    )
    with isolate.run(spec, 20.0, lambda at, folder: None) as ended:  # noqa: ARG005
        samples = array("q", (ended.folder / SAMPLES).read_bytes())
    heap = samples[:: len(FIELDS)][12:32]  # behind warm-up, up to the last step
    assert len(set(heap)) == 1


def test_differences_are_described() -> None:
    one, other = np.zeros((2, 3), np.uint8), np.zeros((2, 3), np.uint8)
    one[1, 2] = 7
    nan = np.array([np.nan, 1.0])
    assert describe([one], [other]) == (
        "first at [1, 2]: 7 instead of 0; 1 of 6 values differ, by at most 7"
    )
    assert describe([nan, one], [nan, other]).startswith("in array 1, first at [1, 2]")
    assert "timing" in describe([one], [one.copy()])
    assert describe([one], [one[0]]) == describe([], [one]) == ""
    assert "1 of 1" in describe([np.array(True)], [np.array(False)])
