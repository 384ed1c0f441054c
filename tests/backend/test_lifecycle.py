"""Opening and closing: everything is given back, by reference count, whatever happened before."""

import contextlib
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest
import torch
from torch import nn

import backend.reference
from backend.errors import FrameError
from backend.reference import TorchBackend

MODES = [{"mode": "sync"}, *({"mode": "async", "nireq": nireq} for nireq in (1, 2, 4, 8))]
pytestmark = pytest.mark.usefixtures("no_gc")


@pytest.fixture(params=MODES, ids=lambda options: "-".join(map(str, options.values())))
def options(request):
    return request.param


class Witness(nn.Module):
    """Returns x * 1, fails for width 5, and keeps weak references to what passes through it."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(weakref.ref(x))
        if x.shape[3] == 5:
            raise RuntimeError(x)
        return x * 1


def parts(backend):
    """Weak references to everything that the backend is made of."""
    inference = backend._inference
    objects = [
        *backend._pool,
        *(request.input for request in backend._pool),
        *(request._array for request in backend._pool),
        *(plane for slot in inference.results._slots for plane in slot.pixels.planes),
        *(slot.frame for slot in inference.results._slots),
        *backend._tasks._tasks,
        inference,
        inference.results,
        inference.lent,
        inference.scratch,
        inference.scratch.tensor,
        inference.model.module,
        backend._worker or backend,
    ]
    found = []
    for thing in objects:
        with contextlib.suppress(TypeError):  # __slots__ without __weakref__
            found.append(weakref.ref(thing))
    return found


def used(options, make_frame, model=None):
    """A backend after some work, with results and errors uncollected."""
    backend = TorchBackend(model or Witness(), **options)
    for width in (8, 5, 12, 12):
        backend.execute(make_frame(width))
    backend.flush()
    backend.get_result()
    return backend


def test_close_gives_everything_back_while_the_backend_is_still_referred_to(options, make_frame):
    backend = used(options, make_frame)
    seen = backend._inference.model.module.seen
    alive = [reference for reference in parts(backend) if reference() is not backend]
    kept = [backend._inference, backend._tasks]  # the hull remains until the backend goes
    backend.close()
    hull = {id(part) for part in [*kept, *backend._tasks._tasks]}
    hull |= {id(part) for part in (kept[0].results, kept[0].lent, kept[0].scratch)}
    left = [part() for part in alive if part() is not None and id(part()) not in hull]
    assert left == []
    assert all(reference() is None for reference in seen)
    assert all(task.result is None and task.error is None for task in backend._tasks._tasks)


def test_nothing_is_left_once_the_closed_backend_is_dropped(options, make_frame):
    backend = used(options, make_frame)
    alive = [weakref.ref(backend), *parts(backend)]
    backend.close()
    del backend
    assert [reference() for reference in alive if reference() is not None] == []


def test_there_is_no_reference_cycle_even_without_close(make_frame):
    backend = used({"mode": "sync"}, make_frame)
    alive = [weakref.ref(backend), *parts(backend)]
    del backend
    assert [reference() for reference in alive if reference() is not None] == []


def test_a_backend_that_was_dropped_without_close_ends_its_worker(make_frame):
    backend = used({"mode": "async", "nireq": 2}, make_frame)
    worker, alive = backend._worker, [weakref.ref(backend), *parts(backend)]
    del backend
    worker.join(10)
    assert not worker.is_alive()
    del worker
    assert [reference() for reference in alive if reference() is not None] == []


def test_close_twice_and_after_errors(options, make_frame):
    backend = used(options, make_frame)
    with pytest.raises(FrameError):
        backend.get_result()
    backend.close()
    backend.close()
    assert backend.get_result() is None


def test_close_without_any_frame(options):
    TorchBackend("small", **options).close()


def test_the_context_manager_closes_and_lets_the_exception_through(options, make_frame):
    def use(backend):
        with backend:
            backend.execute(make_frame())
            raise ZeroDivisionError

    backend = TorchBackend("small", **options)
    with pytest.raises(ZeroDivisionError):
        use(backend)
    assert backend._released


def test_results_outlive_the_backend(options, make_frame):
    frame = make_frame()
    backend = TorchBackend("identity", **options)
    backend.execute(frame)
    backend.flush()
    result = backend.get_result()
    backend.close()
    del backend
    array = weakref.ref(result.data)
    np.testing.assert_array_equal(result.data, frame.data)
    del result
    assert array() is None


@pytest.mark.parametrize("nireq", [1, 2, 4])
def test_close_in_flight_finishes_the_running_inference_and_drops_the_rest(
    nireq, gate, make_frame, in_thread
):
    backend = TorchBackend(gate, mode="async", nireq=nireq)
    for pts in range(nireq):
        backend.execute(make_frame(pts=pts))
    assert gate.entered.acquire(timeout=5)
    alive = parts(backend)
    closing = in_thread(backend.close)
    time.sleep(0.05)
    assert closing.is_alive()  # the running one is not torn from under the model
    gate.open.set()
    closing.join(10)
    assert not closing.is_alive()
    assert gate.calls == 1
    del backend
    left = [reference() for reference in alive if reference() is not None]
    assert all(part is gate for part in left)


def test_close_with_frames_still_queued_from_every_mode(options, make_frame):
    for count in range(6):
        backend = TorchBackend("espcn", **options)
        for pts in range(count):
            backend.execute(make_frame(20, 20, "gray8", pts))
        backend.close()


def test_an_async_backend_has_one_thread_for_its_life(make_frame):
    before = threading.active_count()
    for _ in range(5):
        with TorchBackend("small", mode="async", nireq=4) as backend:
            for _ in range(20):
                assert threading.active_count() == before + 1
                backend.execute(make_frame())
                backend.flush()
                backend.get_result()
        assert threading.active_count() == before


def test_a_sync_backend_has_no_thread():
    before = threading.active_count()
    with TorchBackend("small", nireq=4):
        assert threading.active_count() == before


def test_the_number_of_torch_threads_is_restored():
    with TorchBackend("small", threads=2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 1
    with pytest.raises(ValueError, match="neither"):
        TorchBackend("nonsense", threads=2)
    assert torch.get_num_threads() == 1


def test_a_worker_that_cannot_start_leaves_nothing_open(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    module = nn.ReLU()
    with pytest.raises(RuntimeError, match="can't start"):
        TorchBackend(module, mode="async", threads=2)
    assert module.training
    assert torch.get_num_threads() == 1


def test_a_module_of_the_callers_is_given_back_in_training_mode(options, make_frame):
    module = nn.Sequential(nn.Dropout(0.9), nn.Identity())
    with TorchBackend(module, **options) as backend:
        backend.execute(make_frame())
        backend.flush()
        np.testing.assert_array_equal(backend.get_result().data, make_frame().data)
    assert all(part.training for part in module.modules())
    # Ours, sys.getrefcount's own, and nobody's else.
    assert sys.getrefcount(module) == 2


@pytest.mark.parametrize("at_exit", ["", "backend.close()", "del backend", "1/0", "sys.exit()"])
def test_the_interpreter_exits_whatever_was_left_open(at_exit):
    program = f"""
import sys
import numpy as np
from backend.frame import Frame
from backend.reference import TorchBackend
backend = TorchBackend("small", mode="async", nireq=2)
for _ in range(7):
    backend.execute(Frame(np.zeros((64, 64, 3), np.uint8)))
print("done", flush=True)
{at_exit}
"""
    root = os.path.dirname(os.path.dirname(backend.reference.__file__))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "done\n"
    assert done.returncode == (1 if at_exit == "1/0" else 0), done.stderr
