"""Models that keep their input, return it, or change it: right results, and no buffer lost."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

from backend.lent import MAX_LENT
from backend.reference import TorchBackend

MODES = [{"mode": "sync"}, *({"mode": "async", "nireq": nireq} for nireq in (1, 2, 4, 8))]


class Keeper(nn.Module):
    """Keeps `keep(x)` of its last `count` inputs and returns the oldest of them as a tensor."""

    def __init__(self, keep, count):
        super().__init__()
        self.keep, self.count, self.kept = keep, count, []

    def forward(self, x):
        self.kept = [*self.kept, self.keep(x)][-self.count :]
        return torch.as_tensor(self.kept[0]).reshape(x.shape)


class ScriptKeeper(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = self.kept
        self.kept = x
        return x if kept.dim() == 1 else kept


class InPlace(nn.Module):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, x):
        return self.change(x)


def run(module, frames, **options):
    """Arrays of all results, and the last stats."""
    with TorchBackend(module, **options) as backend:
        results = []
        for frame in frames:
            backend.execute(frame)
        backend.flush()
        while (result := backend.get_result()) is not None:
            results.append(result.data)
        return results, backend.stats()


def assert_delayed(results, frames, by):
    for index, result in enumerate(results):
        np.testing.assert_array_equal(result, frames[max(0, index - by)].data)


@pytest.mark.parametrize("options", MODES)
@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize(
    "keep",
    [lambda x: x, lambda x: x[:], lambda x: x.detach(), lambda x: x.numpy()],
    ids=["itself", "view", "detached", "numpy"],
)
def test_kept_inputs_are_not_overwritten(keep, count, options, make_frame):
    frames = [make_frame(pts=pts) for pts in range(24)]
    results, stats = run(Keeper(keep, count), frames, **options)
    assert_delayed(results, frames, by=count - 1)
    assert stats.retained_inputs == 24
    assert stats.lent_buffers == count


@pytest.mark.parametrize("options", MODES)
def test_an_input_kept_by_torchscript_is_not_overwritten(options, make_frame, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.script(ScriptKeeper()), tmp_path / "keeper.pt")
    frames = [make_frame(pts=pts) for pts in range(12)]
    results, stats = run(tmp_path / "keeper.pt", frames, **options)
    assert_delayed(results, frames, by=1)
    assert stats.retained_inputs == 12
    assert stats.lent_buffers == 1


@pytest.mark.parametrize(
    "change",
    [lambda x: x, lambda x: x[:], lambda x: x.view(x.shape), lambda x: x * 1],
    ids=["itself", "slice", "view", "copy"],
)
def test_an_input_that_is_only_returned_is_not_kept(change, make_frame):
    frames = [make_frame(pts=pts) for pts in range(6)]
    results, stats = run(InPlace(change), frames)
    assert_delayed(results, frames, by=0)
    assert stats.retained_inputs == stats.lent_buffers == 0


@pytest.mark.parametrize("options", MODES[:2])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: x.neg_().add_(1), lambda data: 255 - data),
        (lambda x: x.transpose_(2, 3), lambda data: data.transpose(1, 0, 2)),
        (lambda x: x.squeeze_(0).unsqueeze(0), lambda data: data),
        (lambda x: x.requires_grad_(), lambda data: data),
    ],
    ids=["values", "strides", "rank", "grad"],
)
def test_an_input_that_is_changed_in_place_is_whole_again_on_the_next_frame(
    change, expected, options, make_frame
):
    frames = [make_frame(8, 8, pts=pts) for pts in range(6)]
    results, _ = run(InPlace(change), frames, **options)
    for result, frame in zip(results, frames, strict=True):
        np.testing.assert_array_equal(result, expected(frame.data))


def test_a_model_that_keeps_every_input_does_not_make_the_list_grow_for_ever(make_frame):
    frames = [make_frame(pts=pts) for pts in range(3 * MAX_LENT)]
    module = Keeper(lambda x: x, len(frames) + 1)
    _, stats = run(module, frames)
    assert stats.lent_buffers == MAX_LENT
    for kept, frame in zip(module.kept, frames, strict=True):
        expected = torch.from_numpy(frame.data).float().permute(2, 0, 1)[None] * (1 / 255)
        assert torch.equal(kept, expected)


@pytest.mark.parametrize("options", MODES)
def test_a_larger_frame_makes_everything_grow_at_once(options, make_frame):
    """Also what the model holds: no later frame finds a buffer that is too small."""
    with TorchBackend(Keeper(lambda x: x, 1), **options) as backend:

        def step(width):
            for _ in range(9):
                backend.execute(make_frame(width))
                backend.flush()
                assert backend.get_result() is not None
            return backend.stats().growth_events

        step(8)
        backend.execute(make_frame(16))
        backend.flush()
        backend.get_result()
        after_first_large = backend.stats().growth_events
        assert step(16) == after_first_large
        assert step(8) == after_first_large
        assert set(backend.stats().input_bytes) == {16 * 8 * 3 * 4}


def test_no_memory_for_the_next_buffer_does_not_lose_the_result(make_frame, memory_limit, collect):
    """The model keeps one input more than before, just when memory is short."""
    frames = [make_frame(pts=pts) for pts in range(4)]
    module = Keeper(lambda x: x, 2)
    with TorchBackend(module) as backend:
        backend.execute(frames[0])
        memory_limit(0)
        backend.execute(frames[1])  # its result needs a second slot, its buffer a successor
        first, second = collect(backend, 2)
        np.testing.assert_array_equal(first.data, frames[0].data)
        assert "cannot allocate" in str(second)
        assert backend.stats().input_bytes == (0,)
        memory_limit(None)
        backend.execute(frames[2])
        (third,) = collect(backend, 1)
        np.testing.assert_array_equal(third.data, frames[1].data)


@pytest.mark.parametrize("options", MODES)
def test_no_autograd_graph_is_kept(options, make_frame):
    module = Keeper(lambda x: x, 2)
    run(module, [make_frame(pts=pts) for pts in range(3)], **options)
    assert all(kept.grad_fn is None and not kept.requires_grad for kept in module.kept)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
