"""What is allocated does not depend on which of the two threads goes first, growth included."""

from pathlib import Path

import pytest

from harness.batch import verify_batch

SCHEDULES = Path(__file__).with_name("schedules.py")
WORKLOADS = [
    "64x48@100*20,16x16@30*9",
    "16x16@100*8,64x48@100*8",  # growth in the middle
    "16x16@1000*50,8x8@1000*50",  # more frames at once than requests
    "32x32@60*9,16x16@60*5,32x32@60*5,16x16@70*9",  # two geometries in one step
    "8x8@100*3,9x8@100*3,10x8@100*3,8x8@100*3,9x8@90*8",
]
COLOURS = ["16x16:gray8@100*9,16x16:rgb24@100*9,16x16:gray8@100*9"]
"""arrays of two and of three dimensions in one step"""


def counted(schedule, options, workloads):
    """What each step allocated, by workload; the first cycle has first use in it."""
    reports = verify_batch(f"{SCHEDULES}:{schedule}", workloads, options=options)
    assert [report.verdict for report in reports] == ["pass"] * len(workloads)
    return [
        [(step.cycle, step.index, step.by_owner) for step in report.steps if step.cycle > 1]
        for report in reports
    ]


@pytest.mark.parametrize(
    ("model", "executor", "workloads"),
    [
        ("identity", "torch", WORKLOADS + COLOURS),
        ("espcn", "planned", [text.replace("@", ":gray8@") for text in WORKLOADS]),
    ],
)
def test_counts_are_the_same_whichever_thread_goes_first(model, executor, workloads):
    options = {"model": model, "executor": executor, "mode": "async"}
    frames_first = counted("open_frames_first", options, workloads)
    results_first = counted("open_results_first", options, workloads)
    assert frames_first == results_first
