"""The least workload that shows a fault, for faults of known least workloads."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings

from harness.least import least
from harness.plan import ticks
from harness.strategies import workloads
from harness.workload import Workload

Shows = Callable[[Workload], bool]


def sizes(workload: Workload) -> list[tuple[int, int]]:
    return [(s.width, s.height) for s in workload.segments]


def changes(workload: Workload) -> int:
    return sum(one != other for one, other in pairwise(sizes(workload)))


def burst(workload: Workload) -> int:
    at = list(ticks(workload))
    return max(at.count(tick) for tick in set(at))


FAULTS: dict[str, tuple[Shows, str]] = {
    "any": (lambda _: True, "1x1@25*1"),
    "shrink": (
        lambda w: any(a[0] * a[1] > b[0] * b[1] for a, b in pairwise(sizes(w))),
        "2x1@25*1,1x1@25*1",
    ),
    "rotation": (
        lambda w: any(a == b[::-1] != b for a, b in pairwise(sizes(w))),
        "2x1@25*1,1x2@25*1",
    ),
    "third change": (
        # Sizes up and down again: of the four that are equally small, this one.
        lambda w: changes(w) >= 3 and sizes(w)[0] == sizes(w)[2] > sizes(w)[1],
        "2x1@25*1,1x1@25*1,2x1@25*1,1x1@25*1",
    ),
    "burst of seventeen": (lambda w: burst(w) >= 17, "1x1@1000*17"),
    "three at once": (lambda w: burst(w) >= 3, "1x1@100*3"),
    "twentieth frame": (lambda w: w.frame_count >= 20, "1x1@25*20"),
}
START = "640x360@59.94*31,37x12:gray8@25*9,12x37@24*15,37x12@1000*90,320x200@30*4,1x1@25*2"


@pytest.mark.parametrize("fault", FAULTS)
def test_least_is_what_it_is_known_to_be(fault: str) -> None:
    shows, text = FAULTS[fault]
    found, tried = least(Workload.parse(START), shows)
    assert shows(found)
    assert tried < 300
    assert str(found) == text


@pytest.mark.parametrize("fault", FAULTS)
def test_least_is_the_same_from_wherever_it_begins(fault: str) -> None:
    shows, text = FAULTS[fault]

    @settings(max_examples=400, derandomize=True, database=None, deadline=None)
    @given(workloads(max_frames=200))
    def holds(workload: Workload) -> None:
        if shows(workload):
            assert str(least(workload, shows)[0]) == text

    holds()


def test_tries_are_bounded_and_what_is_returned_shows_it() -> None:
    tried: list[Workload] = []

    def shows(workload: Workload) -> bool:
        tried.append(workload)
        return workload.frame_count >= 20

    found, count = least(Workload.parse(START), shows, tries=3)
    assert (count, len(tried)) == (3, 3)
    assert found.frame_count >= 20


def test_nothing_smaller_is_tried_twice() -> None:
    tried: list[Workload] = []

    def shows(workload: Workload) -> bool:
        tried.append(workload)
        return False

    start = Workload.parse(START)
    assert least(start, shows) == (start, len(tried))
    assert len(set(tried)) == len(tried)
