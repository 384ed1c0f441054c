"""GrowOnlyBuffer: capacity that never shrinks and never lies."""

import pytest
import torch

from backend.buffer import GrowOnlyBuffer

CPU = torch.device("cpu")


def test_grows_to_what_is_asked_for_and_never_shrinks():
    buffer = GrowOnlyBuffer(CPU)
    assert buffer.capacity == 0
    assert buffer.reserve(100)
    assert buffer.capacity == 100
    assert not buffer.reserve(60)
    assert not buffer.reserve(100)
    assert buffer.capacity == 100


def test_views_share_the_memory():
    buffer = GrowOnlyBuffer(CPU)
    buffer.reserve(24)
    whole = buffer.view(torch.float32, (2, 3), (3, 1))
    row = buffer.view(torch.float32, (3,), (1,), offset=3)
    row.fill_(7)
    assert whole[1].tolist() == [7, 7, 7]


def test_failed_growth_leaves_buffer_and_contents_as_they_were(memory_limit):
    buffer = GrowOnlyBuffer(CPU)
    buffer.reserve(8)
    view = buffer.view(torch.uint8, (8,), (1,)).fill_(3)
    memory_limit(50)
    with pytest.raises(MemoryError, match="cannot allocate 100 bytes"):
        buffer.reserve(100)
    assert buffer.capacity == 8
    assert buffer.view(torch.uint8, (8,), (1,)).tolist() == view.tolist() == [3] * 8


@pytest.mark.parametrize("nbytes", [1 << 55, 1 << 70])
def test_a_size_that_no_machine_has_is_a_memory_error(nbytes):
    buffer = GrowOnlyBuffer(CPU)
    with pytest.raises(MemoryError, match=str(nbytes)):
        buffer.reserve(nbytes)
    assert buffer.capacity == 0


def test_a_view_made_in_inference_mode_can_be_written_outside_of_it():
    with torch.inference_mode():
        buffer = GrowOnlyBuffer(CPU)
        buffer.reserve(4)
        view = buffer.view(torch.uint8, (4,), (1,))
    view.fill_(1)
    assert not view.is_inference()


def test_use_count_counts_every_view():
    buffer = GrowOnlyBuffer(CPU)
    buffer.reserve(4)
    alone = buffer.use_count()
    view = buffer.view(torch.uint8, (4,), (1,))
    assert buffer.use_count() == alone + 1
    del view
    assert buffer.use_count() == alone
