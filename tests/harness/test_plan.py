"""The steps of a workload: cases computed by hand, and the definitions read literally."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.frame import PIXEL_FORMATS
from harness.plan import PlannedStep, plan_steps
from harness.workload import Segment, Workload


def plan(text: str, warmup: int = 8) -> list[PlannedStep]:
    return plan_steps(Workload.parse(text), warmup, "rgb24")


def letters(steps: list[PlannedStep]) -> str:
    """One letter per step: Record, Warm-up, Steady."""
    return "".join(step.phase[0].upper() for step in steps)


def bursts(steps: list[PlannedStep]) -> list[int]:
    return [step.last - step.first + 1 for step in steps]


def test_at_25_fps_each_frame_is_a_step() -> None:
    steps = plan("16x8@25*11")
    assert bursts(steps) == [1] * 11
    assert letters(steps) == "RWWWWWWWSSS"
    assert steps[3] == PlannedStep(3, 3, 3, 16, 8, "warm-up", "rgb24")


def test_at_100_fps_four_frames_are_a_step() -> None:
    steps = plan("8x8@100*18")
    assert [(step.first, step.last) for step in steps] == [
        (0, 3),
        (4, 7),
        (8, 11),
        (12, 15),
        (16, 17),
    ]
    assert letters(steps) == "RWSSS"


def test_at_1000_fps_forty_frames_are_a_step() -> None:
    assert bursts(plan("8x8@1000*100")) == [40, 40, 20]


def test_at_24_fps_no_step_holds_two_frames_and_empty_ticks_are_no_steps() -> None:
    steps = plan("8x8@24*48")
    assert bursts(steps) == [1] * 48
    assert [step.index for step in steps] == list(range(48))


def test_at_30_fps_every_fifth_step_holds_two_frames_and_becomes_steady() -> None:
    # Frame n arrives in tick floor(5 n / 6): 0 0 1 2 3 4, 5 5 6 7 8 9, ...
    steps = plan("8x8@30*24", warmup=3)
    assert bursts(steps) == [2, 1, 1, 1, 1] * 4
    assert letters(steps) == "RW" + "S" * 18


def test_two_frames_at_once_for_the_first_time_are_a_record() -> None:
    steps = plan("8x8@25*3,8x8@30*12", warmup=3)
    assert bursts(steps) == [1, 1, 1] + [2, 1, 1, 1, 1] * 2
    assert letters(steps) == "RWWRW" + "S" * 8


def test_a_larger_burst_within_a_segment_restarts_the_warm_up_at_its_first_frame() -> None:
    # 8x8 frame n arrives in tick floor(1/2 + 5 n / 8): 0 (with the 16x16 one), 1 1, 2, 3 3, 4 4, 5.
    # Step 0 restarts at its frame 1 and so counts as a burst of one. Step 1 is larger: no record,
    # as two frames of that size were there before, but the count restarts. Step 3 is no larger.
    steps = plan("16x16@50*1,8x8@40*8", warmup=1)
    assert bursts(steps) == [2, 2, 1, 2, 2]
    assert letters(steps) == "RWSSS"


def test_a_new_geometry_in_the_middle_of_a_step() -> None:
    steps = plan("128x128@100*50,256x256@100*50,128x128@100*50")
    # 256x256 begins at frame 50, within step 12 (frames 48 to 51): two large frames, a record.
    # Step 13 is the first with four large ones. The burst of four restarts the count at frame 52.
    assert steps[12] == PlannedStep(12, 48, 51, 256, 256, "record", "rgb24")
    assert letters(steps) == "RW" + "S" * 10 + "RRW" + "S" * 10 + "WW" + "S" * 11
    # 128x128 is back at frame 100, the first of step 25.
    assert steps[25] == PlannedStep(25, 100, 103, 128, 128, "warm-up", "rgb24")


def test_a_smaller_frame_in_the_middle_of_a_step_makes_it_warm_up() -> None:
    steps = plan("16x16@100*10,8x8@100*10", warmup=1)
    # 8x8 begins at frame 10, within step 2 (frames 8 to 11), whose burst then counts as two.
    assert letters(steps) == "RSWWS"


def test_a_change_of_format_alone_restarts() -> None:
    assert letters(plan("8x8:rgb24@25*5,8x8:bgr24@25*5", warmup=2)) == "RWSSSWWSSS"
    assert letters(plan("8x8:rgb24@25*5,8x8:grayf32@25*5", warmup=2)) == "RWSSSRWSSS"


def test_a_change_of_rate_alone_restarts_and_the_same_rate_does_not() -> None:
    assert letters(plan("8x8@25*5,8x8@5*5", warmup=2)) == "RWSSSWWSSS"
    assert letters(plan("8x8@25*5,8x8@25.0*5", warmup=2)) == "RWSSSSSSSS"
    assert letters(plan("8x8:rgb24@25*5,8x8@25*5", warmup=2)) == "RWSSSSSSSS"


def test_a_smaller_burst_does_not_restart() -> None:
    assert letters(plan("8x8@100*41,8x8@25*1", warmup=4))[:11] == "R" + "S" * 9 + "W"
    assert bursts(plan("8x8@100*41"))[-1] == 1
    assert letters(plan("8x8@100*41", warmup=4)) == "R" + "S" * 10


def test_swapped_sides_of_equal_bytes_are_warm_up_and_no_record() -> None:
    assert letters(plan("16x8@25*3,8x16@25*3", warmup=1)) == "RSSWSS"


def test_a_spike_is_one_record_only() -> None:
    assert letters(plan("8x8@25*3,16x16@25*1,8x8@25*3,16x16@25*1", warmup=1)) == "RSSRWSSW"


def test_more_frames_of_a_middle_size_are_a_record() -> None:
    # Step 0: one of 8 x 8 x 3 bytes. Second largest was 0 until two arrive at once.
    steps = plan("8x8@25*2,4x4@100*4,2x2@100*8", warmup=0)
    assert letters(steps) == "RSRSS"


def test_without_warm_up_every_step_is_steady_or_a_record() -> None:
    assert letters(plan("8x8@25*3,4x4@25*3", warmup=0)) == "RSSSSS"


def test_a_segment_starts_where_the_last_one_ended_exactly() -> None:
    # Three frames of 1001/24000 s end at 0.125125 s, in tick 3 (0.12 to 0.16).
    steps = plan("8x8@24000/1001*3,8x8@1000*60")
    assert bursts(steps) == [1, 1, 1, 35, 25]


segments = st.builds(
    Segment,
    width=st.integers(1, 3),
    height=st.integers(1, 3),
    fps=st.sampled_from([Fraction(24000, 1001), Fraction(24), Fraction(25), Fraction(30)])
    | st.fractions(min_value=Fraction(1, 3), max_value=500, max_denominator=1001),
    frames=st.integers(1, 40),
    format=st.sampled_from([None, *PIXEL_FORMATS]),
)
workloads = st.lists(segments, min_size=1, max_size=5).map(lambda s: Workload(tuple(s)))


def arrivals(workload: Workload) -> list[Fraction]:
    """When each frame arrives, in seconds; a last entry for the end of the last frame."""
    times = [Fraction(0)]
    for segment in workload.segment_of_each_frame():
        times.append(times[-1] + 1 / segment.fps)
    return times


@given(workloads, st.integers(0, 10))
def test_steps_partition_the_frames_by_tick(workload: Workload, warmup: int) -> None:
    steps = plan_steps(workload, warmup, "rgb24")
    frames = list(workload.segment_of_each_frame())
    times = arrivals(workload)
    assert times[-1] == sum(segment.frames / segment.fps for segment in workload.segments)
    assert [step.index for step in steps] == list(range(len(steps)))
    held = [n for step in steps for n in range(step.first, step.last + 1)]
    assert held == list(range(workload.frame_count))
    ticks = [{times[n] * 25 // 1 for n in range(s.first, s.last + 1)} for s in steps]
    assert all(len(tick) == 1 for tick in ticks)
    assert len(set.union(*ticks)) == len(steps)
    for step in steps:
        assert (step.width, step.height) == (frames[step.last].width, frames[step.last].height)


@given(workloads, st.integers(0, 10))
def test_record_steps_are_those_of_the_definition(workload: Workload, warmup: int) -> None:
    steps = plan_steps(workload, warmup, "gray8")
    frames = list(workload.with_format("gray8").segment_of_each_frame())
    formats = [PIXEL_FORMATS[frame.format or ""] for frame in frames]
    in_bytes = [p.nbytes(f.width, f.height) for p, f in zip(formats, frames, strict=True)]
    in_samples = [f.width * f.height * p.channels for p, f in zip(formats, frames, strict=True)]
    by_definition = zip(records(steps, in_bytes), records(steps, in_samples), strict=True)
    assert [step.phase == "record" for step in steps] == [any(either) for either in by_definition]


def records(steps: list[PlannedStep], sizes: list[int]) -> list[bool]:
    """Whether a step's k-th largest frame exceeds that of all earlier steps, for some k."""
    answers, earlier = [], []
    for step in steps:
        own = sorted(sizes[step.first : step.last + 1], reverse=True)
        answers.append(
            any(
                all(size > (other[k] if k < len(other) else 0) for other in earlier)
                for k, size in enumerate(own)
            )
        )
        earlier.append(own)
    return answers


def definition_of_warm_up(workload: Workload, steps: list[PlannedStep], warmup: int) -> list[bool]:
    """The count of frames since a restart, frame by frame."""
    frames = list(workload.with_format("rgb24").segment_of_each_frame())
    keys = [(f.width, f.height, f.format, f.fps) for f in frames]
    new = [n == 0 or keys[n] != keys[n - 1] for n in range(len(keys))]
    answers = []
    age = 0
    largest = 0
    for step in steps:
        numbers = range(step.first, step.last + 1)
        starts = [n for n in numbers if new[n]]
        if not starts and len(numbers) > largest:
            starts = [step.first]
        ages = []
        for n in numbers:
            age = 0 if n in starts else age + 1
            ages.append(age)
        largest = max(largest, len(numbers)) if not starts else step.last - starts[-1] + 1
        answers.append(any(a < warmup for a in ages))
    return answers


@given(workloads, st.integers(0, 10))
def test_warm_up_steps_are_those_of_the_definition(workload: Workload, warmup: int) -> None:
    steps = plan_steps(workload, warmup, "rgb24")
    expected = definition_of_warm_up(workload, steps, warmup)
    for step, warm in zip(steps, expected, strict=True):
        if step.phase != "record":
            assert step.phase == ("warm-up" if warm else "steady")


@pytest.mark.parametrize("rate", ["25", "24000/1001", "1000"])
def test_a_soak_run_is_planned_in_no_time(rate: str) -> None:
    workload = Workload.parse(f"64x64@{rate}*100000")
    start = time.process_time()
    steps = plan_steps(workload, 8, "rgb24")
    assert time.process_time() - start < 2
    assert steps[-1].last == 99_999


def test_a_format_with_more_samples_in_fewer_bytes_makes_a_record_step() -> None:
    phases = [
        step.phase
        for step in plan_steps(
            Workload.parse("64x64:grayf32@25*1,64x64:rgb24@25*1,64x64:grayf32@25*1"), 0, "rgb24"
        )
    ]
    assert phases == ["record", "record", "steady"]
