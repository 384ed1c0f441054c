"""One frame's failure and memory: none to be had, and none kept."""

import weakref

import numpy as np
import pytest
import torch

from backend.convert import PackedPixels, PlanarTensor
from backend.errors import FrameError
from backend.frame import Frame
from backend.lent import LentBuffers
from backend.reference import TorchBackend
from tests.backend.helpers import Moody, fail, no_memory

pytestmark = pytest.mark.usefixtures("no_gc")


def test_no_memory_for_the_input(options, make_frame, memory_limit, collect):
    with TorchBackend("identity", **options) as backend:
        backend.execute(make_frame())
        collect(backend, 1)
        before = backend.stats()
        memory_limit(5000)
        backend.execute(make_frame(100, 100, pts=1))
        backend.execute(make_frame(pts=2))
        error, result = collect(backend, 2)
        with pytest.raises(FrameError, match="100x100:rgb24, pts=1: MemoryError: cannot allocate"):
            raise error
        assert result.pts == 2
        assert backend.stats().input_bytes == before.input_bytes
        memory_limit(None)
        backend.execute(make_frame(100, 100, pts=3))
        assert collect(backend, 1)[0].pts == 3


@pytest.mark.parametrize(("most", "what"), [(1535, "scratch"), (383, "result")])
def test_no_memory_for_the_output(most, what, options, make_frame, memory_limit, collect):
    """espcn makes 384 values of this frame: 1536 bytes of scratch, 384 bytes of result."""
    frame = make_frame(format="gray8", pts=6)
    with TorchBackend("espcn", **options) as backend:
        backend.execute(frame)
        kept = collect(backend, 1)  # so that the next result needs a slot of its own
        if what == "scratch":
            backend._inference.scratch = PlanarTensor(torch.device("cpu"))
        memory_limit(most)
        backend.execute(frame)
        (error,) = collect(backend, 1)
        with pytest.raises(FrameError, match=f"pts=6: MemoryError: cannot allocate {most + 1} b"):
            raise error
        memory_limit(None)
        backend.execute(frame)
        np.testing.assert_array_equal(collect(backend, 1)[0].data, kept[0].data)


def test_no_memory_for_the_array_of_a_result(options, make_frame, monkeypatch, collect):
    with TorchBackend("identity", **options) as backend:
        for pts in (1, 2):
            backend.execute(make_frame(pts=pts))
        backend.flush()
        with monkeypatch.context() as patch:
            patch.setattr(PackedPixels, "new_array", no_memory)
            with pytest.raises(FrameError, match="12x8:rgb24, pts=1: MemoryError: no array"):
                backend.get_result()
        assert collect(backend, 1)[0].pts == 2
        assert (backend.stats().frames_failed, backend.stats().frames_out) == (1, 1)
        backend.execute(make_frame(pts=3))
        assert collect(backend, 1)[0].pts == 3
        assert backend.stats().result_slots == 2


def test_a_frame_that_no_machine_has_memory_for(options, make_frame, collect):
    data = np.broadcast_to(np.uint8(7), (1 << 25, 1 << 25, 3))
    with TorchBackend("identity", **options) as backend:
        backend.execute(Frame(data, pts=5))
        backend.execute(make_frame(pts=6))
        error, result = collect(backend, 2)
        with pytest.raises(FrameError, match="pts=5: MemoryError: cannot allocate"):
            raise error
        assert result.pts == 6


def test_a_stored_error_keeps_nothing_alive(options, make_frame, collect):
    """Neither frame, nor input, nor the objects in the original exception."""
    alive = []

    class Payload:
        pass

    def act(x):
        local, payload = x + 1, Payload()
        alive.extend([weakref.ref(local), weakref.ref(payload)])
        try:
            raise ValueError(local, payload)
        except ValueError as first:
            raise LookupError(payload) from first

    backend = TorchBackend(Moody(act), **options)
    for _ in range(3):
        frame = make_frame(5)
        alive += [weakref.ref(frame), weakref.ref(frame.data)]
        backend.execute(frame)
    del frame
    backend.flush()
    assert len(alive) == 12
    assert not any(reference() is not None for reference in alive)
    errors = collect(backend, 3)
    assert all(error.__context__ is None and error.__cause__ is None for error in errors)
    dead = [weakref.ref(error) for error in errors]
    errors.clear()
    assert not any(reference() is not None for reference in dead)
    assert backend.stats().retained_inputs == 0
    backend.close()


def test_a_failing_model_costs_no_result_slot_and_no_input(options, make_frame, collect):
    with TorchBackend(Moody(lambda _: fail(OSError())), **options) as backend:
        for _ in range(5):
            backend.execute(make_frame(5))
            collect(backend, 1)
        stats = backend.stats()
        assert stats.result_slots == stats.retained_inputs == stats.lent_buffers == 0


def test_an_exception_that_the_caller_is_handling_stays_whole(make_frame, collect):
    def caller(local):
        raise ValueError(local)

    with TorchBackend(Moody(lambda _: fail(OSError()))) as backend:
        try:
            caller("kept")
        except ValueError as error:
            backend.execute(make_frame(5))
            backend.execute(None)
            stack_frame = error.__traceback__.tb_next.tb_frame
        assert stack_frame.f_locals == {"local": "kept"}
        assert len(collect(backend, 2)) == 2


def test_to_close_takes_no_memory(options, make_frame, memory_limit, collect):
    backend = TorchBackend("identity", **options)
    backend.execute(make_frame())
    collect(backend, 1)
    memory_limit(-1)
    backend.close()
    assert backend.stats().scratch_bytes == 0


@pytest.mark.parametrize("failures", [1, 100])
def test_no_memory_in_the_place_of_an_input_that_the_model_keeps(
    failures, options, make_frame, monkeypatch, collect
):
    """The frame is good and its request comes back; what the model keeps is not written to."""
    make_another, left = LentBuffers._new, [failures]

    def make_or_fail(lent, nbytes):
        if left[0]:
            left[0] -= 1
            raise RuntimeError("can't allocate memory")
        return make_another(lent, nbytes)

    monkeypatch.setattr(LentBuffers, "_new", make_or_fail)
    served = []
    with TorchBackend("delay", **options) as backend:
        for pts in range(2 * backend.nireq + 2):
            frame = make_frame(pts=pts)
            frame.data[...] = 9 * pts
            backend.execute(frame)
            (found,) = collect(backend, 1)
            if isinstance(found, FrameError):
                assert "MemoryError: cannot replace an input that the model keeps" in str(found)
                continue
            served.append(pts)
            np.testing.assert_array_equal(found.data, 9 * served[max(len(served) - 2, 0)])
        assert len(served) == (2 * backend.nireq + 2 if failures == 1 else backend.nireq)
        left[0] = 0
        backend.execute(make_frame(pts=99))
        assert collect(backend, 1)[0].pts == 99
