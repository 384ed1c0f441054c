"""The backend's requests and result slots: growth, back-pressure, turns, counts."""

import time

import numpy as np
import pytest
from torch import nn

from backend.frame import Frame
from backend.reference import TorchBackend
from tests.backend.helpers import JUMPS, MODES, drain, ids


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
def test_requests_are_used_in_turn_whatever_frames_are_refused(nireq, make_frame):
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
            backend.execute(Frame(None, width=1, height=1))
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
