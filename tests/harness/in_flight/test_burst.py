"""Frames that pile up at the entrance, counted in a real run, whatever the scheduler does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness import isolate, targets
from harness.contract import Contract
from harness.rules import bounded_in_flight
from harness.spec import Outcome, RunSpec
from harness.timeline import Interval, Timeline
from tests.harness.core.synthetic import step

FILE = Path(__file__).parent / "queues.py"


def run(target: str, **options: Any) -> Outcome:
    spec = RunSpec(
        target=targets.resolve(target),
        options=options,
        workload="16x16@25*3",
        video=None,
        cycles=1,
        instrument="burst",
        seed=0,
        patience_s=10,
        sys_path=tuple(sys.path),
        cwd=str(FILE.parent),
    )
    with isolate.run(spec, 30, lambda *_: None) as ended:
        assert ended.failure is None
        assert ended.outcome is not None
        return ended.outcome


@pytest.mark.parametrize("nireq", [1, 2, 5])
def test_an_unbounded_queue_keeps_every_frame_each_time(nireq: int) -> None:
    for _ in range(3):
        outcome = run(f"{FILE}:Unbounded", nireq=nireq)
        assert outcome.burst == outcome.inputs_alive == 4 * nireq + 16


@pytest.mark.parametrize("nireq", [1, 2, 5])
def test_a_bounded_queue_keeps_no_more_than_its_requests(nireq: int) -> None:
    for _ in range(3):
        outcome = run(f"{FILE}:Bounded", nireq=nireq)
        assert outcome.inputs_alive is not None
        assert outcome.inputs_alive <= nireq + 1


def test_who_does_not_say_is_not_asked() -> None:
    assert run(f"{FILE}:Undeclared").inputs_alive is None


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_reference_backend_is_bounded(mode: str) -> None:
    outcome = run("espcn", nireq=3, mode=mode)
    assert outcome.nireq == (3 if mode == "async" else 1)
    assert outcome.inputs_alive is not None
    assert outcome.inputs_alive <= outcome.nireq + 1


@pytest.mark.parametrize(("alive", "status"), [(None, "pass"), (6, "pass"), (7, "fail")])
def test_the_rule(alive: int | None, status: str) -> None:
    timeline = Timeline(
        intervals=[Interval("step", 1, step(0))],
        births=[{}],
        spans=[],
        cycles=1,
        in_flight=[0],
        nireq=2,
        burst=24,
        inputs_alive=alive,
    )
    result = bounded_in_flight.check(timeline, Contract())
    assert result.status == status
    if status == "fail":
        (finding,) = result.findings
        assert (finding.kind, finding.count) == ("unbounded-queue", 7)
        assert "7 of 24 frames" in finding.text
