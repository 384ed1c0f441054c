"""Where activations lie: apart while both are alive, together otherwise, in memory that grows."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.planned.arena import Arena, Item, lower_bound, place, rounded


def item(floats, first, last, lane=-1):
    return Item("x", floats, (first, last), (0, 0), lane)


@given(
    st.lists(
        st.builds(
            lambda floats, first, length: item(floats, first, first + length),
            st.integers(1, 5000),
            st.integers(0, 12),
            st.integers(0, 6),
        ),
        max_size=14,
    )
)
def test_items_that_meet_lie_apart(items):
    floats = place(items)
    for one, other in combinations(items, 2):
        if one.meets(other):
            first, second = sorted((one, other), key=lambda found: found.offset)
            assert first.offset + first.floats <= second.offset
    assert floats >= max((found.offset + found.floats for found in items), default=0)
    assert floats >= lower_bound(items)


def test_a_chain_of_layers_needs_two_neighbours_only():
    items = [item(1600, time, time + 1) for time in range(20)]
    assert place(items) == 3200 == lower_bound(items)


def test_the_bound_counts_what_is_alive_at_once():
    assert lower_bound([item(160, 0, 1), item(320, 1, 2), item(640, 3, 3)]) == 640
    assert lower_bound([item(160, 0, 1), item(320, 1, 3), item(640, 3, 3)]) == 960
    assert lower_bound([]) == 0


def test_lanes_run_at_once_so_that_their_items_never_share():
    early, late = item(160, 0, 0, lane=0), item(160, 5, 5, lane=1)
    assert early.meets(late)
    assert place([early, late]) == 320 == lower_bound([early, late])
    assert not early.meets(item(160, 5, 5, lane=0))


def test_every_item_begins_at_a_cache_line():
    items = [item(floats, 0, 0) for floats in (1, 17, 33)]
    place(items)
    assert all(found.offset % 16 == 0 for found in items)
    assert rounded(17) == 32


def test_views_made_before_see_the_grown_memory():
    arena = Arena()
    assert arena.reserve(400)
    view = arena.floats((10,), (1,), 5)
    assert not arena.reserve(400)
    assert arena.reserve(4_000_000)
    view.fill_(3)
    assert arena.floats((2,), (1,), 5).tolist() == [3, 3]
    assert arena.capacity == 4_000_000


def test_a_growth_that_fails_changes_nothing():
    arena = Arena()
    arena.reserve(400)
    view = arena.floats((10,), (1,))
    view.fill_(7)
    with pytest.raises(MemoryError, match="cannot allocate"):
        arena.reserve(1 << 60)
    assert arena.capacity == 400
    assert torch.equal(view, torch.full((10,), 7.0))
