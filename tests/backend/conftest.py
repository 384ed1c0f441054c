"""What the tests of the backend share: frames, a plain computation to compare with, gates."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import backend.buffer
from backend.errors import FrameError
from backend.frame import PIXEL_FORMATS, Frame
from backend.reference import TorchBackend
from tests.backend.helpers import MODES, ids

PATIENCE_S = 20


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No test may leave a thread or another number of torch threads."""
    torch.set_num_threads(1)
    before = threading.active_count()
    yield
    assert threading.active_count() == before
    assert torch.get_num_threads() == 1


@pytest.fixture
def no_gc() -> Iterator[None]:
    """Only reference counts release anything."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(params=MODES[:4], ids=ids)
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Sync mode, and async mode with up to four requests."""
    return request.param


@pytest.fixture
def make_frame() -> Callable[..., Frame]:
    """Frames of random pixels, the same for the same pts and geometry."""

    def make(width: int = 12, height: int = 8, format: str = "rgb24", pts: int = 0) -> Frame:
        random = np.random.default_rng([pts, width, height])
        shape = PIXEL_FORMATS[format].shape(width, height)
        if format == "grayf32":
            return Frame(random.uniform(-0.5, 1.5, shape).astype(np.float32), format, pts=pts)
        return Frame(random.integers(0, 256, shape, dtype=np.uint8), format, pts=pts)

    return make


@pytest.fixture
def plain() -> Callable[[nn.Module, Frame], np.ndarray]:
    """The result as torch's own operators make it, from fresh memory and in one go."""

    def compute(module: nn.Module, frame: Frame) -> np.ndarray:
        data = frame.data[..., ::-1] if frame.format == "bgr24" else frame.data
        pixels = torch.from_numpy(np.ascontiguousarray(data)).float()
        planar = pixels[None, None] if pixels.dim() == 2 else pixels.permute(2, 0, 1)[None]
        is_float = frame.format == "grayf32"
        with torch.no_grad():
            output = module(planar.contiguous() if is_float else planar.contiguous() * (1 / 255))
        if not is_float:
            output = (output * 255).clamp(0, 255).round().to(torch.uint8)
        result = output[0].permute(1, 2, 0).numpy()
        if result.shape[2] == 1:
            return result[..., 0]
        return result[..., ::-1] if frame.format == "bgr24" else result

    return compute


@pytest.fixture
def collect() -> Callable[[TorchBackend, int], list[Frame | FrameError]]:
    """The next `count` results or errors, waited for."""

    def run(backend: TorchBackend, count: int) -> list[Frame | FrameError]:
        found: list[Frame | FrameError] = []
        deadline = time.monotonic() + PATIENCE_S
        while len(found) < count:
            assert time.monotonic() < deadline, f"only {len(found)} of {count} results came"
            try:
                result = backend.get_result()
            except FrameError as error:
                found.append(error)
                continue
            if result is None:
                time.sleep(0.001)
            else:
                found.append(result)
        assert backend.get_result() is None
        return found

    return run


class Gate(nn.Module):
    """Returns its input, but only once it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.entered.release()
        assert self.open.wait(PATIENCE_S)
        return x


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A model that holds every inference until `gate.open` is set."""
    module = Gate()
    yield module
    module.open.set()


@pytest.fixture
def in_thread() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    """Run something that may block; it has ended when the test ends."""
    threads: list[threading.Thread] = []

    def start(function: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=function, daemon=True)
        thread.start()
        threads.append(thread)
        return thread

    yield start
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "blocked for ever"


@pytest.fixture
def memory_limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Let every allocation of more than so many bytes fail; None lifts the limit."""
    allocate = backend.buffer.allocate

    def limit(most: int | None) -> None:
        def limited(nbytes: int, device: torch.device, pinned: bool) -> torch.UntypedStorage:
            if most is not None and nbytes > most:
                raise MemoryError(f"cannot allocate {nbytes} bytes on {device}")
            return allocate(nbytes, device, pinned)

        monkeypatch.setattr(backend.buffer, "allocate", limited)

    return limit
