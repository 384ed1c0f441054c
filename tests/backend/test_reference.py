"""The backend at work: results, order, growth, back-pressure, options, counts."""

import time

import numpy as np
import pytest
import torch
from torch import nn

from backend import reference
from backend.model import load_module
from backend.protocol import Backend
from backend.reference import TorchBackend

MODES = [{"mode": "sync"}, *({"mode": "async", "nireq": nireq} for nireq in (1, 2, 4, 8))]
FACTORIES = [
    reference.open_small,
    reference.open_espcn,
    reference.open_srcnn,
    reference.open_dncnn,
    reference.open_identity,
    reference.open_delay,
]
JUMPS = [(16, 12), (64, 48), (5, 3), (1, 1), (33, 70), (64, 48), (70, 33), (1, 17), (16, 12)]


def ids(options):
    return "-".join(str(value) for value in options.values())


def drain(backend):
    results = []
    while (result := backend.get_result()) is not None:
        results.append(result)
    return results


@pytest.mark.parametrize("options", MODES, ids=ids)
@pytest.mark.parametrize(
    ("factory", "pixels"),
    [(factory, pixels) for factory in FACTORIES for pixels in factory.formats],
    ids=lambda value: value if isinstance(value, str) else value.model,
)
def test_results_equal_a_plain_computation_bit_for_bit_under_resolution_jumps(
    factory, pixels, options, make_frame, plain
):
    frames = [
        make_frame(*size, pixels, pts=3 * n + i) for n, size in enumerate(JUMPS) for i in (0, 1, 2)
    ]
    module = load_module(factory.model, torch.device("cpu"))
    with factory(**options) as backend:
        for start in range(0, len(frames), 7):  # bursts that straddle the jumps
            burst = frames[start : start + 7]
            for frame in burst:
                backend.execute(frame)
            backend.flush()
            results = drain(backend)
            assert [result.pts for result in results] == [frame.pts for frame in burst]
            for frame, result in zip(burst, results, strict=True):
                expected = plain(module, frame)
                np.testing.assert_array_equal(result.data, expected)
                assert result.data.dtype == expected.dtype
                assert (result.height, result.width) == expected.shape[:2]
                assert result.format == pixels
            results.clear()
            del result


@pytest.mark.parametrize("options", MODES[:3], ids=ids)
@pytest.mark.parametrize(
    "arrange",
    [
        lambda data: data[::-1, ::-1],
        lambda data: np.asfortranarray(data),
        lambda data: np.broadcast_to(data[:1], data.shape),
        lambda data: np.pad(data, ((1, 2), (3, 4), (0, 0)))[1:-2, 3:-4],
        lambda data: (data.setflags(write=False), data)[1],
        lambda data: np.lib.stride_tricks.as_strided(data, strides=(0, 3, 1)),
    ],
    ids=["flipped", "fortran", "broadcast", "padded", "read-only", "overlapping"],
)
def test_frames_of_any_strides(arrange, options, make_frame):
    frame = make_frame(9, 7)
    frame.data = arrange(frame.data)
    with TorchBackend("identity", **options) as backend:
        backend.execute(frame)
        backend.flush()
        np.testing.assert_array_equal(backend.get_result().data, frame.data)


@pytest.mark.parametrize("options", MODES, ids=ids)
def test_a_frame_may_be_changed_as_soon_as_execute_returns(options, make_frame):
    frame = make_frame()
    with TorchBackend("identity", **options) as backend:
        for value in range(20):
            frame.data[:] = value
            backend.execute(frame)
        frame.data[:] = 255
        backend.flush()
        assert [int(result.data[0, 0, 0]) for result in drain(backend)] == list(range(20))


def test_formats_change_between_frames(make_frame):
    formats = ["rgb24", "gray8", "bgr24", "grayf32"] * 3
    with TorchBackend("identity", mode="async", nireq=2) as backend:
        frames = [make_frame(6, 5, name) for name in formats]
        for frame in frames:
            backend.execute(frame)
        backend.flush()
        for frame, result in zip(frames, drain(backend), strict=True):
            assert result.format == frame.format
            np.testing.assert_array_equal(result.data, frame.data)


@pytest.mark.parametrize(
    ("channels", "source", "expected"),
    [((3, 1), "bgr24", "gray8"), ((1, 3), "gray8", "rgb24")],
)
def test_models_that_change_the_number_of_channels(channels, source, expected, make_frame, plain):
    module = nn.Conv2d(*channels, 1)
    frame = make_frame(6, 5, source)
    with TorchBackend(module) as backend:
        backend.execute(frame)
        result = backend.get_result()
    assert result.format == expected
    np.testing.assert_array_equal(result.data, plain(module, frame))


def test_red_is_red_for_bgr_too(make_frame):
    class OnlyRed(nn.Module):
        def forward(self, x):
            return x * torch.tensor([1.0, 0, 0]).reshape(1, 3, 1, 1)

    frame = make_frame(4, 4, "bgr24")
    with TorchBackend(OnlyRed()) as backend:
        backend.execute(frame)
        result = backend.get_result().data
    np.testing.assert_array_equal(result[..., 2], frame.data[..., 2])
    assert not result[..., :2].any()


@pytest.mark.parametrize("options", MODES, ids=ids)
def test_inputs_grow_together_and_only_for_the_largest_frame_so_far(options, make_frame):
    with TorchBackend("small", **options) as backend:

        def step(width, height):
            for _ in range(3):
                backend.execute(make_frame(width, height))
            backend.flush()
            drain(backend)
            stats = backend.stats()
            assert len(set(stats.input_bytes)) == len(set(stats.staging_bytes)) == 1
            return stats.growth_events

        grown = step(8, 8)
        for width, height, grows in [
            (6, 4, False),
            (8, 9, True),
            (9, 8, False),
            (8, 8, False),
            (1, 72, False),
            (73, 1, True),
            (8, 9, False),
        ]:
            assert (step(width, height) > grown) == grows, (width, height)
            grown = step(width, height)
        assert backend.stats().input_bytes[0] == 73 * 3 * 4
        assert backend.stats().staging_bytes[0] == 73 * 3


def test_growth_waits_until_nothing_is_in_flight(gate, make_frame, in_thread):
    with TorchBackend(gate, mode="async", nireq=4) as backend:
        small = make_frame()
        backend.execute(small)
        assert gate.entered.acquire(timeout=5)
        large = make_frame(100, 100)
        thread = in_thread(lambda: backend.execute(large))
        time.sleep(0.05)
        assert thread.is_alive()
        assert backend.stats().input_bytes[0] == 12 * 8 * 3 * 4
        gate.open.set()
        thread.join(5)
        backend.flush()
        results = drain(backend)
        np.testing.assert_array_equal(results[0].data, small.data)
        np.testing.assert_array_equal(results[1].data, large.data)


@pytest.mark.parametrize("nireq", [1, 2, 4, 8])
def test_execute_blocks_while_all_requests_are_in_flight(nireq, gate, make_frame, in_thread):
    with TorchBackend(gate, mode="async", nireq=nireq) as backend:
        for pts in range(nireq):
            backend.execute(make_frame(pts=pts))
        assert backend.stats().in_flight == nireq
        thread = in_thread(lambda: backend.execute(make_frame(pts=nireq)))
        time.sleep(0.05)
        assert thread.is_alive()
        assert backend.get_result() is None
        gate.open.set()
        thread.join(5)
        backend.flush()
        assert [result.pts for result in drain(backend)] == list(range(nireq + 1))
        assert backend.stats().peak_in_flight == nireq
        assert backend.stats().in_flight == 0


@pytest.mark.parametrize("options", MODES, ids=ids)
def test_uncollected_results_wait_without_bound_and_then_are_reused(options, make_frame):
    with TorchBackend("identity", **options) as backend:
        for _ in range(3):
            for pts in range(120):
                backend.execute(make_frame(4, 4, pts=pts))
            backend.flush()
            assert [result.pts for result in drain(backend)] == list(range(120))
        assert backend.stats().result_slots == 120


@pytest.mark.parametrize("options", MODES, ids=ids)
def test_a_consumer_that_keeps_results_keeps_them_for_ever(options, make_frame):
    frames = [make_frame(*JUMPS[pts % len(JUMPS)], pts=pts) for pts in range(60)]
    kept = []
    with TorchBackend("identity", **options) as backend:
        for frame in frames:
            backend.execute(frame)
            kept += drain(backend)
        backend.flush()
        kept += drain(backend)
    for frame, result in zip(frames, kept, strict=True):
        assert result.pts == frame.pts
        np.testing.assert_array_equal(result.data, frame.data)


def test_a_consumer_that_drops_results_needs_one_slot(make_frame):
    with TorchBackend("small") as backend:
        for pts in range(20):
            backend.execute(make_frame(pts=pts))
            assert backend.get_result().pts == pts
        assert backend.stats().result_slots == 1


@pytest.mark.parametrize("nireq", [1, 2, 4])
def test_requests_are_used_in_turn(nireq, make_frame):
    class Addresses(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = []

        def forward(self, x):
            self.seen.append(x.data_ptr())
            return x

    module = Addresses()
    with TorchBackend(module, mode="async", nireq=nireq) as backend:
        for _ in range(12):
            backend.execute(make_frame())
        backend.flush()
    assert len(set(module.seen)) == nireq
    assert all(address == module.seen[i % nireq] for i, address in enumerate(module.seen))


def test_sync_mode_has_one_request_whatever_nireq_says(make_frame):
    with TorchBackend("small", nireq=8) as backend:
        assert backend.nireq == 1
        backend.execute(make_frame())
        assert backend.get_result() is not None
        assert len(backend.stats().input_bytes) == 1
    with TorchBackend("small", nireq=8, mode="async") as backend:
        assert backend.nireq == 8


def test_stats_count_every_frame_once(make_frame, collect):
    with TorchBackend("small", mode="async", nireq=2) as backend:
        for name in ("rgb24", "gray8", "rgb24"):
            backend.execute(make_frame(format=name))
        collect(backend, 3)
        stats = backend.stats()
        assert (stats.frames_in, stats.frames_out, stats.frames_failed) == (3, 2, 1)
        assert stats.scratch_bytes == 12 * 8 * 3 * 4
        assert stats.result_bytes == stats.result_slots * 12 * 8 * 3
    stats = backend.stats()
    assert (stats.frames_in, stats.frames_out, stats.frames_failed) == (3, 2, 1)
    assert stats.input_bytes == stats.staging_bytes == ()
    assert stats.scratch_bytes == stats.result_bytes == stats.lent_buffers == stats.in_flight == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"nireq": 0}, "nireq must be a whole number of at least 1, not 0"),
        ({"nireq": -1, "mode": "async"}, "nireq must be"),
        ({"nireq": "4"}, "nireq must be a whole number of at least 1, not '4'"),
        ({"nireq": True}, "nireq must be"),
        ({"nireq": 1.5}, "nireq must be"),
        ({"threads": 0}, "threads must be"),
        ({"mode": "fast"}, "mode must be one of sync, async, not 'fast'"),
        ({"device": "abacus"}, "device must be cpu or cuda, not 'abacus'"),
        ({"device": "meta"}, "device must be cpu or cuda, not 'meta'"),
        ({"device": None}, "device must be cpu or cuda, not None"),
        ({"device": "cuda:99"}, "there is no device 'cuda:99' here"),
        ({"model": "nonsense"}, "neither a file nor one of the models"),
    ],
)
def test_a_bad_option_is_refused_with_its_name(options, problem):
    with pytest.raises(ValueError, match=problem):
        reference.open_reference(**options)


def test_factories_say_which_formats_they_take(make_frame):
    assert reference.open_reference.formats == ("rgb24", "bgr24")
    assert reference.open_espcn.formats == ("gray8", "grayf32")
    assert reference.open_delay.formats[0] == "rgb24"
    with reference.open_reference(model="espcn", mode="async", nireq=2) as backend:
        assert isinstance(backend, Backend)
        backend.execute(make_frame(format="gray8"))
        backend.flush()
        assert backend.get_result().width == 24


def test_modes_of_the_caller_make_no_difference(make_frame):
    """Buffers made in inference mode could not be written outside of it, and vice versa."""
    for options in MODES[:3]:
        with TorchBackend("delay", **options) as backend:
            for pts in range(8):
                with torch.inference_mode(pts % 4 < 2):
                    backend.execute(make_frame(8 + pts, pts=pts))
                    backend.flush()
                    assert backend.get_result().pts == pts
