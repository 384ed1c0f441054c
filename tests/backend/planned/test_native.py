"""Native code does what the calls of torch do, on any memory, and asks for none."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.models import SHIPPED_MODELS
from backend.planned import native
from backend.planned.arena import Arena
from backend.planned.executor import PlannedExecutor
from backend.planned.operation import DIMS, Kind, operation_of

needs_library = pytest.mark.skipif(native.LIBRARY is None, reason="no C compiler at installation")


def calls_on(out, a, b):
    """A call of each operator that is understood, by name."""
    return {
        "copy": partial(out.copy_, a),
        "fill": partial(out.fill_, 2.5),
        "zero": out.zero_,
        "relu": out.relu_,
        "leaky": partial(torch.nn.functional.leaky_relu_, out, 0.1),
        "clamp": partial(out.clamp_, -0.5, 0.5),
        "clamp below": partial(out.clamp_, 0.25, None),
        "add": partial(torch.add, a, b, out=out),
        "add in place": partial(out.add_, a),
        "sub": partial(torch.sub, b, a, out=out),
        "mul in place": partial(out.mul_, b),
        "minimum": partial(torch.minimum, a, b, out=out),
        "maximum": partial(torch.maximum, a, b, out=out),
        "lerp near": partial(torch.lerp, a, b, 0.25, out=out),
        "lerp far": partial(torch.lerp, a, b, 0.75, out=out),
        "addcmul": partial(out.addcmul_, a, b),
    }


NAMES = tuple(calls_on(*torch.zeros(3, 1)))


def arena_of(values: torch.Tensor) -> Arena:
    arena = Arena()
    arena.reserve(values.numel() * 4)
    arena.floats((values.numel(),), (1,)).copy_(values)
    return arena


def contents(arena: Arena) -> torch.Tensor:
    return arena.floats((arena.capacity // 4,), (1,)).clone()


def run(calls, arena: Arena) -> None:
    made = list(native.compiled(native.translated(calls, arena), arena))
    assert all(isinstance(call, native.NativeCall) for call in made)
    for call in made:
        call()


@st.composite
def layouts(draw):
    """A shape of up to four dimensions, and three strided views that share no memory."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=DIMS).map(tuple))
    views, end = [], 0
    for _ in range(3):
        order = draw(st.permutations(range(len(shape))))
        strides, step = [0] * len(shape), draw(st.integers(1, 3))
        for dim in order:
            strides[dim] = step
            step = step * shape[dim] + draw(st.integers(0, 2))
        views.append((tuple(strides), end))
        end += step
    spread = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    return shape, views, end, spread


@needs_library
@pytest.mark.parametrize("name", NAMES)
@given(layout=layouts(), seed=st.integers(0, 9), special=st.booleans())
def test_each_operator_is_that_of_torch_on_strided_and_spread_memory(name, layout, seed, special):
    shape, views, floats, spread = layout
    values = torch.randn(floats, generator=torch.Generator().manual_seed(seed))
    if special:
        values[seed % floats] = math.nan
        values[(seed + 1) % floats] = math.inf
    results = []
    for compiled in (True, False):
        arena = arena_of(values)
        out, a, b = (arena.floats(shape, stride, offset) for stride, offset in views)
        # One number for a whole dimension, as a number per channel is.
        b = b[tuple(slice(0, 1) if one else slice(None) for one in spread)].expand(shape)
        call = calls_on(out, a, b)[name]
        if compiled:
            run([call], arena)
        else:
            call()
        results.append(contents(arena))
    torch.testing.assert_close(*results, equal_nan=True)


@st.composite
def products(draw):
    rows, columns, inner = (draw(st.integers(1, 9)) for _ in range(3))
    sides = [(rows, columns), (rows, inner), (inner, columns)]
    views, end = [], 0
    for number, (down, right) in enumerate(sides):
        turned = number > 0 and draw(st.booleans())
        lead = (down if turned else right) + draw(st.integers(0, 3))
        views.append(((down, right), (1, lead) if turned else (lead, 1), end))
        end += lead * (right if turned else down)
    return views, end


@needs_library
@given(layout=products(), adds=st.booleans())
def test_products_are_those_of_torch_and_rows_may_be_apart_or_matrices_turned(layout, adds):
    views, floats = layout
    values = torch.randn(floats, generator=torch.Generator().manual_seed(floats))
    results = []
    for compiled in (True, False):
        arena = arena_of(values)
        out, left, right = (arena.floats(*view) for view in views)
        call = partial(out.addmm_, left, right) if adds else partial(torch.mm, left, right, out=out)
        if compiled:
            run([call], arena)
        else:
            call()
        results.append(contents(arena))
    torch.testing.assert_close(*results)


@needs_library
def test_calls_keep_their_order_and_those_without_an_operator_stay_calls_of_torch():
    arena = arena_of(torch.tensor([-1.0, 2.0, 0.0]))
    block = arena.floats((3,), (1,))
    one = torch.ones(())
    calls = [block.relu_, block.sigmoid_, partial(block.add_, one), block.relu_]
    made = list(native.compiled(native.translated(calls * 2, arena), arena))
    kinds = [isinstance(call, native.NativeCall) for call in made]
    assert kinds == [True, False, True, False, True]
    for call in made:
        call()
    expected = torch.tensor([-1.0, 2.0, 0.0])
    for _ in range(2):
        expected = (expected.relu().sigmoid() + 1).relu()
    torch.testing.assert_close(contents(arena), expected)


@needs_library
@pytest.mark.parametrize("count", [1, 19, 20, 5000, 19 * 50 * 50 + 1])
def test_however_many_calls_they_are_made_once_each_by_few_calls(count):
    arena = arena_of(torch.zeros(1))
    call = partial(arena.floats((1,), (1,)).add_, one := torch.ones(()))
    [operator] = native.translated([call], arena)
    pieces = (operator * (last - first) for first, last in spans(count, 19))
    made = list(native.compiled(pieces, arena))
    assert len(made) == -(-count // (19 * 50 * 50))
    for call in made:
        call()
    assert contents(arena).item() == count * one


def spans(count: int, length: int):
    return ((first, min(first + length, count)) for first in range(0, count, length))


@needs_library
def test_a_table_still_holds_after_the_arena_moved():
    arena = arena_of(torch.tensor([1.0, 2.0]))
    constant = torch.tensor([10.0, 20.0])
    block = arena.floats((2,), (1,))
    [call] = native.compiled(native.translated([partial(block.add_, constant)], arena), arena)
    before = arena.start.value
    arena.reserve(1 << 24)
    assert arena.start.value != before
    call()
    assert contents(arena)[:2].tolist() == [11.0, 22.0]


def test_what_has_no_operator_is_told():
    block, whole = torch.zeros(3), torch.zeros(3, dtype=torch.int32)
    matrix = torch.zeros(3, 3)
    apart = torch.zeros(9, 9)[::3, ::3]
    five = torch.zeros(3, 3, 3, 3, 3)[::2, ::2, ::2, ::2, ::2]
    assert operation_of(block.sigmoid_) is None
    assert operation_of(whole.zero_) is None
    assert operation_of(partial(block.copy_, whole)) is None
    assert operation_of(partial(block.add_, block, alpha=2)) is None
    assert operation_of(partial(block.add_, 1.0)) is None
    assert operation_of(partial(torch.mm, apart, matrix, out=torch.zeros(3, 3))) is None
    assert operation_of(partial(torch.mm, matrix, matrix, out=apart)) is None
    assert operation_of(partial(torch.addmm, block, matrix, matrix, out=apart)) is None
    assert operation_of(five.zero_) is None


def test_adjacent_dimensions_become_one():
    whole = operation_of(torch.zeros(2, 3, 4, 5, 6).relu_)
    assert whole is not None
    assert (whole.kind, whole.size) == (Kind.RELU, (1, 1, 1, 720))


@pytest.mark.parametrize("name", ["espcn", "srcnn", "dncnn", "unet"])
@pytest.mark.parametrize("lanes", [1, 2])
def test_a_model_gives_the_same_with_and_without_the_library(name, lanes, monkeypatch):
    module = SHIPPED_MODELS[name]().eval()
    frame = torch.rand(1, 1, 36, 52)
    outputs = []
    for found in (native.LIBRARY, None):
        monkeypatch.setattr(native, "LIBRARY", found)
        executor = PlannedExecutor(module, lanes)
        plan, _ = executor.plan(*frame.shape[1:])
        plan.input.tensor.copy_(frame)
        with torch.no_grad():
            outputs.append(executor.run(plan).clone())
        executor.close()
    torch.testing.assert_close(*outputs, rtol=1e-5, atol=1e-6)
