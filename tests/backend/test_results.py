"""The result pool: reuse as soon as nobody refers to a result, and never before."""

import sys

import numpy as np
import pytest
import torch

import backend.results
from backend.convert import PackedPixels
from backend.frame import PIXEL_FORMATS
from backend.results import ResultPool
from backend.stats import Counters
from tests.backend.helpers import no_memory

RGB = PIXEL_FORMATS["rgb24"]


pytestmark = pytest.mark.usefixtures("no_gc")


@pytest.fixture
def pool():
    return ResultPool(Counters())


def take(pool, width=4, height=4, pts=0):
    return pool.take(RGB, width, height, pts).hand_out()


def test_a_dropped_result_is_reused_at_once(pool):
    frame = take(pool)
    identity = id(frame)
    del frame
    frame = take(pool, pts=5)
    assert id(frame) == identity
    assert frame.pts == 5
    assert len(pool) == 1


def test_a_kept_result_is_never_handed_out_again(pool):
    kept = [take(pool, pts=pts) for pts in range(5)]
    assert len({id(frame) for frame in kept}) == len(pool) == 5
    assert len({frame.data.ctypes.data for frame in kept}) == 5


KEEPERS = {
    "frame": lambda frame: frame,
    "data": lambda frame: frame.data,
    "slice": lambda frame: frame.data[1:],
    "view of a view": lambda frame: frame.data[1:].T[0],
    "memoryview": lambda frame: memoryview(frame.data),
    "tensor": lambda frame: torch.from_numpy(frame.data),
    "tensor view": lambda frame: torch.from_numpy(frame.data)[0],
    "ctypes": lambda frame: np.ctypeslib.as_ctypes(frame.data),
    "bound method": lambda frame: frame.data.sum,
}


@pytest.mark.parametrize("keep", KEEPERS.values(), ids=KEEPERS.keys())
def test_whatever_shares_the_memory_keeps_it(pool, keep):
    frame = take(pool)
    address = frame.data.ctypes.data
    kept = keep(frame)
    del frame
    assert take(pool).data.ctypes.data != address
    del kept
    assert take(pool).data.ctypes.data == address
    assert len(pool) == 2


def test_data_taken_out_of_the_frame_stays_the_consumers(pool):
    frame = take(pool)
    data, frame.data = frame.data, None
    del frame
    data.fill(9)
    take(pool).data.fill(1)
    assert (data == 9).all()
    del data
    assert take(pool).data.shape == (4, 4, 3)
    assert len(pool) == 2


def test_what_a_consumer_did_to_the_frame_is_undone(pool):
    frame = take(pool)
    frame.width, frame.format, frame.pts = 99, "nonsense", -1
    frame.data.flags.writeable = False
    frame.data.shape = (48,)
    del frame
    frame = take(pool, pts=3)
    assert (frame.width, frame.format, frame.pts) == (4, "rgb24", 3)
    assert frame.data.shape == (4, 4, 3)
    assert frame.data.flags.writeable


def test_a_result_that_is_still_awaited_is_not_taken_for_another(pool):
    awaited = pool.take(RGB, 4, 4, 0)
    awaited.is_awaited = True
    assert pool.take(RGB, 4, 4, 1) is not awaited
    awaited.hand_out()
    assert pool.take(RGB, 4, 4, 2) is awaited


def test_growth_shows_in_the_array_that_is_handed_out_next(pool):
    assert take(pool, width=2).data.shape == (4, 2, 3)
    slot = pool.take(RGB, 8, 4, 0)
    for value, plane in enumerate(slot.pixels.planes):
        plane.fill_(value)
    data = slot.hand_out().data
    assert data.shape == (4, 8, 3)
    assert (data == [0, 1, 2]).all()


def test_a_slot_whose_array_cannot_be_made_is_free_and_whole(pool, monkeypatch):
    slot = pool.take(RGB, 4, 4, 0)
    slot.is_awaited = True

    with monkeypatch.context() as patch:
        patch.setattr(PackedPixels, "new_array", no_memory)
        error = slot.hand_out()
    assert str(error) == "frame 4x4:rgb24, pts=0: MemoryError: no array"
    assert pool.take(RGB, 4, 4, 1) is slot
    assert slot.hand_out().data.shape == (4, 4, 3)


def test_the_smallest_slot_that_is_large_enough_is_taken(pool):
    frames = [take(pool, width=width) for width in (8, 2, 4)]
    addresses = [frame.data.ctypes.data for frame in frames]
    frames.clear()
    assert take(pool, width=3).data.ctypes.data == addresses[2]
    assert take(pool, width=1).data.ctypes.data == addresses[1]
    assert take(pool, width=7).data.ctypes.data == addresses[0]


def test_of_equally_large_slots_one_that_has_the_shape_is_taken(pool):
    """A slot that an earlier frame has left in another shape is not turned back and forth."""
    kept = [take(pool, 4, 2), take(pool, 2, 4)]
    wide, high = map(id, kept)
    kept.clear()
    assert id(take(pool, 2, 4)) == high
    assert id(take(pool, 4, 2)) == wide


def test_the_largest_free_slot_grows_when_none_is_large_enough(pool):
    frames = [take(pool, width=width) for width in (2, 4)]
    frames.clear()
    take(pool, width=8)
    assert len(pool) == 2
    assert pool.nbytes == (2 + 8) * 4 * 3


def test_nothing_grows_for_what_fitted_before(pool):
    def step(count, width):
        frames = [take(pool, width=width) for _ in range(count)]
        frames.clear()

    for count, width in [(2, 9), (4, 5), (1, 20)]:
        step(count, width)
    before = pool.nbytes
    for count, width in [(4, 5), (1, 20), (2, 9), (3, 4), (2, 8), (1, 19), (4, 1)]:
        step(count, width)
    assert pool.nbytes == before


def test_a_failed_growth_leaves_the_pool_as_it_was(pool, memory_limit):
    take(pool)
    memory_limit(100)
    with pytest.raises(MemoryError):
        take(pool, width=100)
    assert len(pool) == 1
    assert pool.nbytes == 48
    assert take(pool).data.shape == (4, 4, 3)
    kept = take(pool)
    memory_limit(10)
    with pytest.raises(MemoryError):
        take(pool)
    assert len(pool) == 1
    del kept


def test_cleared_pool_leaves_kept_results_to_the_consumer(pool):
    frame = take(pool)
    frame.data.fill(7)
    pool.clear()
    assert (frame.data == 7).all()
    assert sys.getrefcount(frame) == 2
    assert pool.nbytes == len(pool) == 0


def test_beyond_a_limit_kept_results_are_the_consumers_alone(pool, monkeypatch):
    monkeypatch.setattr(backend.results, "MAX_SLOTS", 4)
    kept = []
    for pts in range(11):
        frame = take(pool, pts=pts)
        frame.data.fill(pts)
        kept.append(frame)
        del frame
    assert len(pool) == 4
    assert [int(frame.data[0, 0, 0]) for frame in kept] == list(range(11))
