"""The rule `error-path` on real runs: every planted fault by its kind, its twins pass."""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend.frame import Frame
from harness import bad_frames, isolate, targets
from harness.contract import Contract
from harness.error_runs import gather
from harness.result import RuleResult
from harness.rules import error_path
from harness.spec import RunSpec
from harness.spoiled import spoiled_source
from harness.timeline import Timeline

PLANTED = Path(__file__).parent / "planted_errors.py"
THREADS = Path(__file__).parent / "planted_threads.py"
BAD = tuple(frame.number for frame in bad_frames.schedule() if frame.bad)
AFTER = tuple(number + 1 for number in BAD)


def verdict(target: str, timeout: float = 20.0, **changes: Any) -> RuleResult:
    """What the rule says of a planted backend, or of another target."""
    if target[0].isupper():
        target = f"{THREADS if target.startswith('Thread') else PLANTED}:{target}"
    values: dict[str, Any] = {
        "target": targets.resolve(target),
        "options": {},
        "workload": "48x32@25*3",
        "video": None,
        "cycles": 3,
        "instrument": "trace",
        "seed": 0,
        "patience_s": timeout / 2,
        "sys_path": tuple(sys.path),
        "cwd": os.getcwd(),
    }
    run = functools.partial(isolate.run, timeout=timeout, watch=lambda at, folder: None)  # noqa: ARG005
    timeline = Timeline([], [], [], 1)
    timeline.errors = gather(RunSpec(**(values | changes)), run)
    return error_path.check(timeline, Contract())


INCIDENTS: dict[str, tuple[str, tuple[int, ...], str]] = {
    "Swallows": ("swallowed-error", BAD, "bad frame 8 (no pixels) has neither"),
    "BlocksAfterError": ("good-frame-failed", AFTER, "RuntimeError: no idle request"),
    "SpoilsNext": ("wrong-after-error", AFTER, "good frame 9, right after bad frame 8"),
    "RaisesTwice": ("extra-event", AFTER, "ValueError: can't take a frame"),
    "FlushRaises": ("flush-error", (47,), "RuntimeError: cannot flush after an error"),
    "CloseRaises": ("close-error", (47,), "RuntimeError: cannot close after an error"),
    "SecondCloseRaises": ("second-close", (47,), "RuntimeError: it is closed already"),
    "SecondCloseCrashes": (
        "second-close",
        (47,),
        "must do nothing: the backend crashed with SIGABRT",
    ),
    "Crashes": ("crash", (8,), "crashed with SIGABRT, in execute; the last frame was bad frame 8"),
    "CrashesInFlush": ("crash", (47,), "crashed with SIGABRT, in flush"),
    "Exits": ("no-end", (8,), "called sys.exit('a bad frame'), in execute"),
}


PLACED = ("crash", "no-end", "flush-error", "close-error", "second-close")
"""kinds whose line is known"""


@pytest.mark.parametrize("name", INCIDENTS)
def test_each_incident_is_told_by_its_kind_and_frames(name: str) -> None:
    kind, frames, words = INCIDENTS[name]
    result = verdict(name)
    assert result.status == "fail"
    (finding,) = result.findings
    assert (finding.kind, finding.frames) == (kind, frames)
    assert words in finding.text
    if kind in PLACED:
        assert Path(finding.file).name == PLANTED.name


def test_a_second_close_that_hangs_is_told_as_such() -> None:
    (finding,) = verdict("SecondCloseHangs", timeout=1.5).findings
    assert (finding.kind, finding.function) == ("second-close", "close")
    assert "must do nothing: the backend made no progress for 1.5 s" in finding.text


@pytest.mark.parametrize(("name", "phase"), [("Hangs", "execute"), ("ThreadDies", "flush")])
def test_a_hang_is_a_failure_at_its_line(name: str, phase: str) -> None:
    result = verdict(name, timeout=1.5)
    (finding,) = result.findings
    assert (result.status, finding.kind) == ("fail", "hang")
    assert f"in {phase}" in finding.text
    assert Path(finding.file) in (PLANTED, THREADS)


def test_a_failed_frame_that_is_delivered_and_the_next_lost_is_told() -> None:
    result = verdict("RepeatsForBad")
    assert result.status == "fail"
    assert {finding.kind for finding in result.findings} & {"good-frame-lost", "wrong-after-error"}


LINES = {
    "LeaksPerError": ("leak-per-error", 16, 80_000),
    "LeaksOfOneKind": ("leak-per-error", 4, 2_404),
    "Cyclic": ("delayed-release", 16, 80_000),
}


@pytest.mark.parametrize("name", LINES)
def test_what_errors_leave_is_found_at_its_line(name: str) -> None:
    (finding,) = verdict(name).findings
    assert (finding.kind, finding.count, finding.bytes) == LINES[name]
    lines = PLANTED.read_text().splitlines()
    assert lines[finding.line - 1].endswith(f"# fault: {name}")


TOTALS = {
    "KeepsTuples": "32 small Python objects more",
    "LeaksByPointer": "no tracer sees",
    "LeaksDescriptors": "16 file descriptors more",
}


@pytest.mark.parametrize("name", TOTALS)
def test_what_no_tracer_sees_is_found_by_totals(name: str) -> None:
    (finding,) = verdict(name).findings
    assert finding.kind == "leak-per-error"
    assert TOTALS[name] in finding.text


def test_frames_that_are_kept_are_the_sources_memory() -> None:
    result = verdict("KeepsFrames")
    assert result.findings[0].owner == "source"
    assert "that something keeps" in result.findings[0].text


GREEN = [
    "Plain",
    "TakesAll",
    "Deferred",
    "ClosedOnce",
    "Threaded",
    "KeepsOneError",
    "Random",
    "HoldsBack",
]


@pytest.mark.parametrize("name", [*GREEN, "StatefulTakesAll"])
def test_what_serves_errors_well_passes(name: str) -> None:
    result = verdict(name)
    assert (result.status, result.findings, result.measured) == ("pass", (), 0)


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("reference", {}),
        ("reference", {"mode": "async"}),
        ("delay", {"mode": "async", "nireq": 1}),
    ],
)
def test_the_reference_backend_passes(target: str, options: dict[str, Any]) -> None:
    result = verdict(target, options=options)
    assert (result.status, result.findings) == ("pass", ())
    assert "20 raised an exception" in result.why


def test_gray_frames_are_spoiled_too() -> None:
    assert verdict("espcn", workload="32x32:gray8@25*3").status == "pass"


def test_a_backend_that_fails_anyway_is_no_case() -> None:
    result = verdict("BrokenAnyway")
    assert (result.status, result.findings) == ("skipped", ())
    assert "not my day" in result.why


@pytest.mark.parametrize("pixel_format", ["rgb24", "gray8", "grayf32"])
def test_bad_frames_are_bad_and_good_ones_good(pixel_format: str) -> None:
    shape = (4, 6, 3) if pixel_format == "rgb24" else (4, 6)
    kind = np.float32 if pixel_format == "grayf32" else np.uint8
    source = spoiled_source(Frame(np.zeros(shape, kind), pixel_format), seed=0)
    for planned in bad_frames.schedule():
        frame = source.frame(planned.number)
        as_it_should = (
            frame.data.shape == shape and frame.data.dtype == kind and frame.format == pixel_format
        )
        assert as_it_should == (not planned.bad), planned
