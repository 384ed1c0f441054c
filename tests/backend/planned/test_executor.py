"""Plans are remembered, the arena grows for records only, and all is given back."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref

import pytest
import torch
from torch import nn

from backend.errors import UnusableError
from backend.models import SHIPPED_MODELS
from backend.planned.executor import PLANS, PlannedExecutor

SIZES = [(128, 128), (256, 256), (320, 180), (640, 90), (57, 1000), (96, 96), (255, 257), (8, 8)]


@pytest.fixture(params=[1, 2], ids=["1-lane", "2-lanes"])
def executor(request):
    made = PlannedExecutor(SHIPPED_MODELS["espcn"]().eval(), request.param)
    yield made
    made.close()


def run(executor, frame):
    plan, _ = executor.plan(*frame.shape[1:])
    plan.input.tensor.copy_(frame)
    with torch.no_grad():
        return executor.run(plan)


def test_returning_to_a_geometry_plans_nothing(executor):
    first, _ = executor.plan(1, 24, 32)
    executor.plan(1, 48, 64)
    again, grew = executor.plan(1, 24, 32)
    assert again is first
    assert not grew


def test_a_plan_still_holds_after_the_arena_grew(executor):
    module = SHIPPED_MODELS["espcn"]().eval()
    small, large = torch.rand(1, 1, 12, 16), torch.rand(1, 1, 700, 640)
    before = run(executor, small).clone()
    _, grew = executor.plan(1, 700, 640)
    assert grew
    run(executor, large)
    assert torch.equal(run(executor, small), before)
    with torch.no_grad():
        assert torch.allclose(before, module(small), atol=1e-5)


def test_few_plans_are_remembered(executor):
    plans = [
        weakref.ref(executor.plan(1, 8 + size, 8)[0].input.tensor) for size in range(PLANS + 3)
    ]
    gc.collect()
    assert sum(plan() is not None for plan in plans) <= PLANS


@pytest.mark.parametrize("name", ["espcn", "srcnn", "dncnn", "unet"])
@pytest.mark.parametrize("lanes", [1, 2])
def test_the_arena_grows_for_a_frame_of_more_samples_only(name, lanes):
    executor = PlannedExecutor(SHIPPED_MODELS[name]().eval(), lanes)
    largest = 0
    for width, height in SIZES:
        width, height = (-(-side // 4) * 4 for side in (width, height))
        _, grew = executor.plan(1, height, width)
        assert width * height > largest or not grew, (width, height)
        largest = max(largest, width * height)
    executor.close()


def test_a_geometry_that_the_model_cannot_take_is_told_and_leaves_all_as_it_was(executor):
    executor.plan(1, 24, 32)
    before = executor.arena.capacity
    with pytest.raises(UnusableError, match=r"layer '0' \(Conv2d\) takes 5 channels, not 15"):
        executor.plan(3, 512, 512)
    assert executor.arena.capacity == before


def test_memory_that_is_not_there_leaves_all_as_it_was(executor, monkeypatch):
    before = run(executor, torch.ones(1, 1, 12, 16)).clone()

    def refuse(nbytes):
        raise MemoryError(f"cannot allocate {nbytes} bytes")

    monkeypatch.setattr(type(executor.arena), "reserve", lambda _, nbytes: refuse(nbytes))
    with pytest.raises(MemoryError):
        executor.plan(1, 700, 640)
    monkeypatch.undo()
    assert torch.equal(run(executor, torch.ones(1, 1, 12, 16)), before)
    assert executor.plan(1, 700, 640)[1]


def test_what_a_lane_raises_reaches_the_caller_and_the_next_frame_is_right():
    executor = PlannedExecutor(SHIPPED_MODELS["dncnn"]().eval(), lanes=2)
    frame = torch.rand(1, 1, 40, 40)
    before = run(executor, frame).clone()
    plan, _ = executor.plan(1, 40, 40)

    def fail():
        raise RuntimeError("in the second lane")

    stages, plan.stages = plan.stages, [(plan.stages[0][0], ((fail,),))]
    with pytest.raises(RuntimeError, match="in the second lane"):
        executor.run(plan)
    plan.stages = stages
    assert torch.equal(run(executor, frame), before)
    executor.close()


def test_close_gives_back_threads_and_memory_without_the_collector(executor):
    gc.collect()
    gc.disable()
    try:
        run(executor, torch.ones(1, 1, 24, 32))
        plan = weakref.ref(executor.plan(1, 24, 32)[0].output.tensor)
        executor.close()
        assert plan() is None
        assert executor.arena.capacity == 0
        assert not [one for one in threading.enumerate() if one.name == "steadyframe-lane"]
    finally:
        gc.enable()


def test_a_dropped_executor_ends_its_threads():
    before = threading.active_count()
    executor = PlannedExecutor(nn.Sequential(nn.ReLU()), lanes=3)
    lanes = [one for one in threading.enumerate() if one.name == "steadyframe-lane"]
    assert len(lanes) == 2
    del executor
    for lane in lanes:
        lane.join(10)
    assert threading.active_count() == before


def test_a_plan_describes_itself(executor):
    text = executor.plan(1, 64, 64)[0].describe()
    lines = text.splitlines()
    assert lines[0].split() == [
        "layer",
        "kind",
        "shape",
        "memory",
        "offset",
        "bytes",
        "alive",
        "method",
    ]
    assert any("minimal filter F(6, 3)" in line for line in lines)
    assert any(line.startswith("arena: ") for line in lines)
    assert "all activations, whole" in text


def test_the_map_of_the_arena_has_no_two_things_in_one_place(executor):
    assert executor.memory_map() == []
    executor.plan(1, 64, 64)
    plan, _ = executor.plan(1, 300, 200)
    found = executor.memory_map()
    assert max(one.offset + one.nbytes for one in found) <= plan.nbytes
    apart = [
        one.offset + one.nbytes <= other.offset
        or other.offset + other.nbytes <= one.offset
        or one.last < other.first
        or other.last < one.first
        for one, other in itertools.combinations(found, 2)
    ]
    assert all(apart)
    (total,) = [line for line in plan.describe().splitlines() if "all activations" in line]
    assert f"whole: {sum(one.whole for one in found):,} bytes" in total
