"""The suite finds faults that only some sequences show, and shrinks each to the least of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from harness.batch import verify_batch
from harness.report.json import from_json
from harness.workload import Workload
from tests.properties import laws
from tests.properties.drawing import streams
from tests.properties.machine import CALLS_APART, BackendMachine
from tests.properties.planted import (
    burst_of_seventeen,
    close_in_flight,
    failure_then_larger,
    one_too_many,
    rotation,
    second_cycle,
    shrink_after_growth,
    third_jump,
)
from tests.properties.program import least, machine_of
from tests.properties.rounds import times
from tests.properties.telling import BrokenLawError, Subject, hold, require_pass
from tests.properties.test_laws import LAW_EXAMPLES
from tests.properties.test_machine import CALLS, PROGRAM_COUNT

Law = Callable[[Any, Workload], None]


MOST_CLOSED_AFTER = 4


def released_after_any(opener: Any, workload: Workload) -> None:
    """The law of release, with a close after each of the first numbers of frames in turn."""
    for frames in range(min(workload.frame_count, MOST_CLOSED_AFTER) + 1):
        laws.all_is_released(opener, workload, frames)


FOUND: list[tuple[Any, Law, str, str]] = [
    (
        shrink_after_growth,
        laws.capacity_only_grows,
        "2x1@25*1,1x1@25*1",
        r"step 1 \(1x1\): \d+ bytes became \d+",
    ),
    (
        rotation,
        laws.outputs_are_the_frames,
        "2x1@25*1,1x2@25*1",
        r"result 1 is \(\d+, \d+, 3\), not \(\d+, \d+, 3\)",
    ),
    (
        third_jump,
        laws.capacity_only_grows,
        "2x1@25*1,1x1@25*1,2x1@25*1,1x1@25*1",
        r"step 3 \(1x1\): .* though it needs no more",
    ),
    (
        burst_of_seventeen,
        laws.outputs_are_the_frames,
        "1x1@1000*17",
        "16 results of 17 frames",
    ),
    (
        one_too_many,
        laws.in_flight_is_bounded,
        "1x1@100*3",
        "3 frames in flight, with 2 requests",
    ),
    (
        close_in_flight,
        released_after_any,
        "1x1@25*1",
        "there are .'Frame'.",
    ),
]
"""A module, the law that finds its fault, the least workload that shows it, and what is said."""


def once(count: int) -> settings:
    """As many examples as the suite has, the same every time."""
    return settings(times(count), derandomize=True, database=None, report_multiple_bugs=False)


def subject(backend: type) -> Subject:
    target = f"{sys.modules[backend.__module__].__file__}:{backend.__name__}"
    return Subject(target, backend, {"model": "identity"})


def try_on_many(law: Law, backend: type) -> None:
    """Hold a law against as many workloads as the suite does."""

    @once(LAW_EXAMPLES)
    @given(streams())
    def holds(workload: Workload) -> None:
        hold(law, subject(backend), workload)

    holds()


@pytest.mark.parametrize(
    ("module", "law", "text", "said"), FOUND, ids=[row[0].__name__.split(".")[-1] for row in FOUND]
)
def test_a_law_finds_it_and_the_least_workload(module: Any, law: Law, text: str, said: str) -> None:
    with pytest.raises(BrokenLawError, match=said) as raised:
        try_on_many(law, module.Faulty)
    assert len(raised.value.workload.segments) <= 4  # shrunk by Hypothesis
    assert str(raised.value.least()) == text


@pytest.mark.parametrize(
    ("module", "law"),
    [row[:2] for row in FOUND],
    ids=[row[0].__name__.split(".")[-1] for row in FOUND],
)
def test_the_law_holds_for_its_green_twin(module: Any, law: Law) -> None:
    try_on_many(law, module.Repaired)


def run_programs(kind: type[BackendMachine]) -> None:
    run_state_machine_as_test(
        kind, settings=settings(once(PROGRAM_COUNT), stateful_step_count=CALLS)
    )


def test_the_machine_finds_a_failed_frame_that_a_larger_one_follows() -> None:
    kind = machine_of(failure_then_larger.Faulty)
    said = "the largest frames had"
    with pytest.raises(AssertionError, match=said) as raised:
        run_programs(kind)
    # A frame fails, or the inference of one, and its error is fetched; then comes a larger one.
    program = CALLS_APART.join(kind.program)
    assert re.fullmatch(
        "open moody sync 1, (bad [a-z]+|fail next, execute 1x1:rgb24 \\*1), (get, )?execute .*",
        least(kind, program, said),
    )
    assert f"'{program}'" in "".join(raised.value.__notes__)
    run_programs(machine_of(failure_then_larger.Repaired))


def test_a_trace_finds_what_only_the_second_cycle_leaves() -> None:
    def judge(backend: type, workloads: list[Workload]) -> None:
        target = f"{second_cycle.__file__}:{backend.__name__}"
        for report in verify_batch(target, workloads, options={"model": "identity"}):
            require_pass(report, "planted")

    drawn: list[list[str]] = []

    @once(10)
    @given(st.lists(streams(), min_size=1, max_size=4))
    def holds(workloads: list[Workload]) -> None:
        drawn[:] = [[str(one) for one in workloads]]
        judge(second_cycle.Faulty, workloads)

    with pytest.raises(AssertionError, match="teardown-release") as raised:
        holds()
    assert drawn == [["1x1@25*1"]]
    told = str(raised.value)
    assert f"second_cycle.py:{line_of('fault: second cycle')} in __init__" in told
    assert "replay: steadyframe verify " in told
    assert "--workload '1x1@25*1'" in told
    saved = from_json(Path(told.rsplit("report: ", 1)[1]).read_text())
    assert (saved.verdict, saved.workload) == ("fail", "1x1@25*1")
    # On any workload the fault shows; what is drawn for the backend itself, test_contract has.
    others = ["1x1@25*1", "16x8@100*12,8x8@25*4,16x8@1000*20"]
    judge(second_cycle.Repaired, [Workload.parse(text) for text in others])


def line_of(comment: str) -> int:
    """Number of the line of the planted file that ends in this comment."""
    with open(second_cycle.__file__) as file:
        return next(n for n, line in enumerate(file, start=1) if line.rstrip().endswith(comment))
