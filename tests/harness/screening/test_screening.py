"""What counts as growth, on samples made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.plan import PlannedStep
from harness.probes.heap import FIELDS
from harness.result import Extent
from harness.screening import Screening, find, taken

_STEPS = [PlannedStep(n, n, n, 8, 8, "record" if n == 0 else "steady") for n in range(31)]
_PER_CYCLE = len(_STEPS) + 3


def _samples(
    value: Callable[[int], int], field: str, steps: Sequence[PlannedStep] = _STEPS
) -> Screening:
    """One cycle, whose field is `value` of the number of steps done; all else is constant."""
    samples: list[int] = []
    for boundary in range(-1, len(steps) + 3):
        row = [1] * len(FIELDS)
        row[FIELDS.index(field)] = 1000 + value(max(0, min(boundary, len(steps))))
        samples += row
    return Screening(samples, steps, 1)


@pytest.mark.parametrize(
    ("value", "grows"),
    [
        (lambda n: 0 * n, False),
        (lambda n: n, True),
        (lambda n: n // 10, True),
        (lambda n: -n, False),
        # once, however late, and however much
        (lambda n: 9 * (n > 20), False),
        (lambda n: 7 * (n > 12) + (n > 13), False),
        # swings that reach their height in the first third
        (lambda n: n % 4, False),
        (lambda n: n % 10, False),
        # a saw whose teeth grow
        (lambda n: n % 4 + n // 4, True),
    ],
)
def test_python_blocks_grow_if_they_rise_in_each_third(
    value: Callable[[int], int], grows: bool
) -> None:
    assert bool(find(_samples(value, "python_blocks"))) is grows


def test_heap_bytes_grow_by_a_whole_block() -> None:
    assert not find(_samples(lambda n: 16 * (n // 15), "heap_bytes"))
    [growth] = find(_samples(lambda n: 32 * n, "heap_bytes"))
    assert (growth.field, growth.pattern, growth.cycle) == ("heap_bytes", "frame", 1)
    assert growth.amount == 30 * 32
    # Step 1, the first steady one, is interval 2: opening is 0.
    assert growth.window == (2, 31)
    assert growth.rises == tuple(range(2, 32))


def test_extents_are_before_most_and_after_and_leave_out_what_never_was() -> None:
    screening = _samples(lambda n: 50 * (n == 7) + 3 * (n > 20), "heap_bytes")
    assert screening.extents()["heap_bytes"] == Extent(1000, 1050, 1003)
    assert screening.extents()["threads"] == Extent(1, 1, 1)
    width = len(FIELDS)
    no_gpu = [1, *[0] * (width - 1)] * (1 + _PER_CYCLE)
    assert Screening(no_gpu, _STEPS, 1).extents() == {FIELDS[0]: Extent(1, 1, 1)}


def test_growth_that_begins_late_in_a_long_run_is_narrowed_to_where_it_begins() -> None:
    steps = [PlannedStep(n, n, n, 8, 8, "steady" if n else "record") for n in range(8001)]
    [growth] = find(_samples(lambda n: max(0, n - 6000), "python_blocks", steps))
    first, last = growth.window
    assert first >= 6000
    assert last - first <= 512


def test_visits_to_a_resolution_count_after_the_last_record_step() -> None:
    steps = [
        PlannedStep(n, n, n, 8 + 8 * (n // 4 % 2), 8, "record" if n in (0, 4) else "warm-up")
        for n in range(32)
    ]
    # Something more at each change, and given back once, at the end.
    [growth] = find(_samples(lambda n: 32 * ((n + 3) // 4), "heap_bytes", steps))
    assert (growth.pattern, growth.amount) == ("change", 192)
    assert not find(_samples(lambda n: 32 * min((n + 3) // 4, 4), "heap_bytes", steps))


@pytest.mark.parametrize(
    ("ends", "grows"),
    [
        ((0, 0, 0), False),
        # first use
        ((500, 500, 500), False),
        ((500, 532, 564), True),
        ((500, 516, 532), False),
        # once more in the second cycle, and never again
        ((0, 64, 64), False),
        ((0, 32), False),
        ((0, 0, 32, 32), False),
    ],
)
def test_cycles(ends: Sequence[int], grows: bool) -> None:
    samples = [1] * len(FIELDS) * (1 + _PER_CYCLE * len(ends))
    for cycle, end in enumerate(ends, start=1):
        for boundary in range(_PER_CYCLE):
            row = (cycle - 1) * _PER_CYCLE + boundary + 1
            samples[row * len(FIELDS)] = 1000 + (end if boundary == _PER_CYCLE - 1 else 0)
    found = find(Screening(samples, _STEPS, len(ends)))
    assert [growth.pattern for growth in found] == ["cycle"] * grows
    if grows:
        assert found[0].window == (_PER_CYCLE, 3 * _PER_CYCLE - 1)


def test_a_run_that_broke_off_is_known_by_its_zeros() -> None:
    width = len(FIELDS)
    samples = [1] * width * 5 + [0] * width * 200
    assert taken(samples) == 5
    assert taken([]) == 0
    screening = Screening(samples, _STEPS, 3)
    assert screening.cycles == 0
    assert find(screening) == []


@pytest.mark.parametrize("field", ["cuda_bytes", "pinned_bytes"])
def test_memory_of_a_gpu_grows_as_any_other_does(field: str) -> None:
    [growth] = find(_samples(lambda n: 512 * n, field))
    assert (growth.field, growth.pattern, growth.amount) == (field, "frame", 512 * 30)
    # A buffer made once, and what is taken and given back on each step, at the same height.
    assert not find(_samples(lambda n: 512 * (n > 20), field))
    assert not find(_samples(lambda n: 512 * (n % 2), field))
