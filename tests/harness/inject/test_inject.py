"""`inject` on real runs: every planted fault is found as what it is, and its twin survives."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.inject.report import InjectReport
from harness.inject.runs import inject
from harness.verify import verify
from tests.harness.inject import planted

PLANTED = Path(planted.__file__)
SHORT = "16x16@50*4,32x24@50*4,16x16@50*4"


@cache
def report_of(name: str, **changes: Any) -> InjectReport:
    asked: dict[str, Any] = {"timeout": 2.0, "limit": 1, "jobs": 1}
    return inject(f"{PLANTED}:{name}", SHORT, **(asked | changes))


FAULTS = {
    "RequestNotReturned": "hang",
    "CapacityNotReset": "good-frame-failed",
    "DeliveredThoughCopyFailed": "wrong-result",
    "ErrorForgotten": "frame-lost",
    "DiesOfIt": "crash",
    "KeepsTheFailed": "leak",
    "CannotBeClosed": "not-closable",
    "SaysSomethingElse": "wrong-exception",
    "SpoilsTheNext": "taints",
    "FailedCopyOfFrames": "wrong-result",
    "HalfInitialised": "good-frame-failed",
    "FirstThreadLeft": "leak",
    "WorkerDeliversTheLast": "wrong-result",
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_is_found_as_what_it_is(name: str) -> None:
    report = report_of(name)
    assert report.verdict == "fail"
    assert FAULTS[name] in {each.kind for broken in report.broken for each in broken.breaks}, report
    for broken in report.broken:
        assert 1 <= broken.index <= broken.total == report.operations
        assert any(file == str(PLANTED) for _, file, _ in broken.stack)


TWINS = sorted({vars(planted)[name].__base__.__name__ for name in FAULTS})


@pytest.mark.parametrize("name", TWINS)
def test_every_repaired_twin_survives(name: str) -> None:
    report = report_of(name)
    assert (report.verdict, report.broken, report.unreached) == ("pass", (), 0), report
    assert report.runs == 2 * report.points > 0


JUMPS = "24x16@50*2,48x32@50*2,24x16@50*2"


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("reference", {}),
        ("reference", {"mode": "async", "nireq": 4}),
        ("delay", {"mode": "async", "nireq": 2}),
    ],
)
def test_the_reference_backend_survives_every_failure(target: str, options: dict[str, Any]) -> None:
    report = inject(target, JUMPS, options=options, jobs=1)
    assert (report.verdict, report.broken, report.unreached) == ("pass", (), 0), report
    assert report.kinds.get("thread", 0) == (options.get("mode") == "async")
    assert report.points > 100


def test_counts_are_the_same_each_time() -> None:
    one, other = report_of("WorkerDeliversTheLast"), report_of("WorkerDeliversTheLast", limit=2)
    assert one.kinds["thread"] == 1
    assert (one.operations, one.stacks, one.points, one.kinds) == (
        other.operations,
        other.stacks,
        other.points,
        other.kinds,
    )


def test_what_is_broken_is_broken_in_a_process_of_its_own() -> None:
    """The first points pass: the one that breaks is run again, alone, and its verdict is that."""
    report = report_of("KeepsTheFailed")
    (broken,) = report.broken
    assert broken.index > 1
    assert {each.kind for each in broken.breaks} == {"leak"}


def test_no_operation_at_all_is_no_verdict() -> None:
    report = inject(lambda frame: frame.pts, "8x8@25*2", jobs=1)
    assert (report.verdict, report.failure, report.operations) == ("no-verdict", None, 0)


@pytest.mark.parametrize(
    "name", ["FirstThreadLeft", "CapacityNotReset", "DeliveredThoughCopyFailed"]
)
def test_faults_that_only_a_failure_shows_are_found_by_inject_alone(name: str) -> None:
    report = verify(f"{PLANTED}:{name}", "16x16@25*12", level="zero-growth")
    assert report.verdict == "pass", report.rules
