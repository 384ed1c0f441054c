"""The thirteen faults seen at run time in real backends: each is impossible here."""

import threading
import weakref

import numpy as np
import pytest
import torch
from torch import nn

from backend.errors import FrameError
from backend.frame import Frame
from backend.reference import TorchBackend

MODES = [{"mode": "sync"}, {"mode": "async", "nireq": 1}, {"mode": "async", "nireq": 4}]
pytestmark = pytest.mark.usefixtures("no_gc")


@pytest.fixture(params=MODES, ids=lambda options: "-".join(map(str, options.values())))
def options(request):
    return request.param


class Recorder(nn.Module):
    """Returns its input; remembers where it was and on which thread."""

    def __init__(self):
        super().__init__()
        self.addresses, self.threads = [], []

    def forward(self, x):
        self.addresses.append(x.data_ptr())
        self.threads.append(threading.get_ident())
        if x.shape[3] == 5:
            raise RuntimeError("five")
        return x


def run(backend, frames, collect):
    for frame in frames:
        backend.execute(frame)
    return collect(backend, len(frames))


def test_fault_01_the_persistent_buffer_is_not_freed_by_the_completion_of_a_frame(
    options, make_frame, collect
):
    module = Recorder()
    with TorchBackend(module, **options) as backend:
        run(backend, [make_frame()] * 8, collect)
        grown = backend.stats().growth_events
        buffers = [request.input.buffer._storage.data_ptr() for request in backend._pool]
        run(backend, [make_frame()] * 40, collect)
        stats = backend.stats()
        assert [request.input.buffer._storage.data_ptr() for request in backend._pool] == buffers
        assert stats.result_slots * 288 == stats.result_bytes
        assert stats.growth_events - grown <= 32  # the results of the larger burst, nothing else
        assert set(module.addresses) == set(buffers)


def test_fault_02_a_model_that_keeps_its_input_gets_the_previous_frame(
    options, make_frame, collect
):
    frames = [make_frame(pts=pts) for pts in range(12)]
    with TorchBackend("delay", **options) as backend:
        results = run(backend, frames, collect)
    for index, result in enumerate(results):
        np.testing.assert_array_equal(result.data, frames[max(0, index - 1)].data)


def test_fault_03_close_while_an_inference_is_in_flight(gate, make_frame, in_thread):
    backend = TorchBackend(gate, mode="async", nireq=2)
    backend.execute(make_frame())
    backend.execute(make_frame())
    assert gate.entered.acquire(timeout=5)
    closing = in_thread(backend.close)
    gate.open.set()
    closing.join(10)
    assert not closing.is_alive()
    assert gate.calls <= 2


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_fault_04_flush_ends_with_more_requests_asked_for_than_frames(mode, make_frame, in_thread):
    with TorchBackend("small", mode=mode, nireq=2) as backend:
        backend.execute(make_frame())
        flushing = in_thread(backend.flush)
        flushing.join(10)
        assert not flushing.is_alive()
        assert backend.get_result() is not None


def test_fault_05_a_failed_allocation_costs_neither_the_request_nor_the_frame(
    options, make_frame, collect, memory_limit
):
    with TorchBackend("identity", **options) as backend:
        run(backend, [make_frame()], collect)
        memory_limit(1000)
        alive = []
        for _ in range(10):  # more than there are requests
            frame = make_frame(64, 64)
            alive.append(weakref.ref(frame.data))
            backend.execute(frame)
            del frame
        backend.flush()
        assert all(isinstance(error, FrameError) for error in collect(backend, 10))
        assert not any(reference() is not None for reference in alive)
        memory_limit(None)
        assert all(isinstance(result, Frame) for result in run(backend, [make_frame()], collect))
        assert backend.stats().in_flight == 0


@pytest.mark.parametrize(
    ("act", "good"),
    [
        (lambda x: x.reshape(7), False),
        (lambda x: (x,), False),
        (lambda x: x[0], False),
        (lambda x: x, True),  # no parameters: a model like any other
    ],
    ids=["raises", "tuple", "rank 3", "no parameters"],
)
def test_fault_06_a_strange_model_is_an_error_not_the_end(act, good, options, make_frame, collect):
    class Model(nn.Module):
        def forward(self, x):
            return act(x)

    with TorchBackend(Model(), **options) as backend:
        results = run(backend, [make_frame()] * 5, collect)
        assert [isinstance(result, Frame) for result in results] == [good] * 5


def test_fault_07_a_failed_request_goes_back_without_its_last_level_task(
    options, make_frame, collect
):
    with TorchBackend(Recorder(), **options) as backend:
        every = [backend._idle_last_level_tasks.get() for _ in range(backend.nireq)]
        for last_level_task in every:
            backend._idle_last_level_tasks.put(last_level_task)
        for _ in range(6):
            run(backend, [make_frame(5), make_frame(), Frame(None, width=1, height=1)], collect)
        assert all(request.last_level_task is None for request in backend._pool)
        assert len(backend._last_level_tasks) == 0
        idle = backend._idle_last_level_tasks.drain()
        assert {id(task) for task in idle} == {id(task) for task in every}
        assert all(task.task is None for task in idle)


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_fault_08_the_path_of_the_model_is_released(options, tmp_path):
    class Path(str):
        """A string that can be referred to weakly."""

    script = torch.jit.trace(nn.ReLU(), torch.zeros(1, 3, 4, 4))
    torch.jit.save(script, tmp_path / "model.pt")
    path = Path(tmp_path / "model.pt")
    alive = weakref.ref(path)
    backend = TorchBackend(path, **options)
    del path
    backend.close()
    assert alive() is None


def test_fault_09_close_drains_the_task_and_last_level_task_queues(options, make_frame):
    backend = TorchBackend(Recorder(), **options)
    alive = []
    for width in (5, 8, 8, 5, 8):
        frame = make_frame(width)
        alive += [weakref.ref(frame), weakref.ref(frame.data)]
        backend.execute(frame)
        del frame
    backend.flush()
    slots = backend._inference.results._slots
    assert len(slots) == 3
    alive += [weakref.ref(slot.frame) for slot in slots]
    alive += [weakref.ref(plane) for slot in slots for plane in slot.pixels.planes]
    del slots
    backend.close()
    assert not any(reference() is not None for reference in alive)
    for queue in (backend._pending, backend._idle_requests, backend._last_level_tasks):
        assert len(queue) == 0
    assert len(backend._idle_last_level_tasks) == 0
    assert all(task.result is None and task.error is None for task in backend._tasks._tasks)


@pytest.mark.parametrize("model", ["identity", "espcn"])
def test_fault_10_an_input_of_another_size_gives_a_result_of_its_size(
    model, options, make_frame, collect
):
    scale = 2 if model == "espcn" else 1
    sizes = [(64, 48), (9, 7), (48, 64), (64, 48), (1, 1)]
    with TorchBackend(model, **options) as backend:
        results = run(backend, [make_frame(*size, "gray8") for size in sizes], collect)
        assert [(r.width, r.height) for r in results] == [(scale * w, scale * h) for w, h in sizes]
        assert [r.data.shape for r in results] == [(scale * h, scale * w) for w, h in sizes]


def test_fault_11_no_thread_is_made_per_frame(options, make_frame, collect):
    module = Recorder()
    with TorchBackend(module, **options) as backend:
        before = set(threading.enumerate())
        for _ in range(10):
            run(backend, [make_frame()] * 4, collect)
        assert set(threading.enumerate()) == before
    assert len(set(module.threads)) == 1
    assert (module.threads[0] == threading.get_ident()) == (options["mode"] == "sync")


def test_fault_12_a_failed_frame_is_never_delivered_as_if_it_were_good(
    options, make_frame, collect
):
    with TorchBackend(Recorder(), **options) as backend:
        widths = [8, 5, 5, 8, 5, 8, 8]
        results = run(backend, [make_frame(w, pts=i) for i, w in enumerate(widths)], collect)
        for index, (width, result) in enumerate(zip(widths, results, strict=True)):
            if width == 5:
                assert isinstance(result, FrameError)
                assert f"pts={index}" in str(result)
            else:
                assert result.pts == index


def test_fault_13_capacity_counts_only_memory_that_is_there(
    options, make_frame, collect, memory_limit
):
    with TorchBackend("identity", **options) as backend:
        run(backend, [make_frame()], collect)
        before = backend.stats()
        memory_limit(3 * 64 * 64)  # enough for the frame as it came, not for the model's input
        (error,) = run(backend, [make_frame(64, 64)], collect)
        assert isinstance(error, FrameError)
        for request in backend._pool:
            for buffer in (request.input.buffer, request.staging.buffer):
                assert buffer.capacity == buffer._storage.nbytes()
        assert backend.stats().input_bytes == before.input_bytes
        memory_limit(None)
        (result,) = run(backend, [make_frame(64, 64)], collect)
        np.testing.assert_array_equal(result.data, make_frame(64, 64).data)
