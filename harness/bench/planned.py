"""Frames per second of the planned executor beside torch's own ways to run the same model.

The contestants are the same backend in sync mode with the model run by plan, as eager module, and
as TorchScript, frozen and optimised for inference. They take turns in one process, so that what
else the machine does hits all alike: ratios are of the same turn, and of these the median. After
the turns, one frame of each is traced, and its page faults are counted on others.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from backend.frame import Frame
from backend.protocol import Backend
from harness import adapt
from harness.probes import trace

MODELS = ("espcn", "dncnn")
SIZES = ((128, 128), (256, 256), (640, 480), (1920, 1080))
THREADS = (1, 2)
TURNS = 7
_TURN_S = 0.25
"""how long a turn is at least, and one frame"""
_FAULT_FRAMES = 3
CONTESTANTS = ("planned", "eager", "script")


def main(arguments: list[str]) -> int:
    """Print the table; 1 if planned is slower than a contestant somewhere, 0 otherwise."""
    sizes = [_size(text) for text in arguments] or SIZES
    head = f"{'model':<7}{'threads':>8}{'size':>11}"
    head += "".join(f"{name + ' fps':>13}" for name in CONTESTANTS)
    print(head + f"{'/best':>7}{'/eager':>8}   mallocs, KiB, page faults a frame", flush=True)
    slower = 0
    for model in MODELS:
        for threads in THREADS:
            for size in sizes:
                ratio = _row(model, threads, *size)
                slower += ratio < 1
    cases = len(MODELS) * len(THREADS) * len(sizes)
    print(f"slower than the best of the others: {slower} of {cases}")
    return int(slower > 0)


def _size(text: str) -> tuple[int, int]:
    width, height = text.split("x")
    return int(width), int(height)


def _row(model: str, threads: int, width: int, height: int) -> float:
    pixels = np.random.default_rng(0).integers(0, 256, (height, width), dtype=np.uint8)
    frame = Frame(pixels, "gray8")
    backends = _open(model, threads)
    try:
        times: dict[str, list[float]] = {name: [] for name in backends}
        for name, backend in backends.items():
            with _threads(name, threads):
                for _ in range(3):
                    _serve(backend, frame)
        for _ in range(TURNS):
            for name, backend in backends.items():
                with _threads(name, threads):
                    times[name].append(_turn(backend, frame))
        costs = {}
        for name, backend in backends.items():
            with _threads(name, threads):
                costs[name] = _costs(backend, frame)
    finally:
        for backend in backends.values():
            backend.close()
    turns = list(zip(*(times[name] for name in CONTESTANTS), strict=True))
    best: float = statistics.median(
        min(eager, script) / planned for planned, eager, script in turns
    )
    eager = statistics.median(eager / planned for planned, eager, _ in turns)
    line = f"{model:<7}{threads:>8}{f'{width}x{height}':>11}"
    line += "".join(f"{1 / min(times[name]):>13.1f}" for name in CONTESTANTS)
    spent = "; ".join(f"{name} {costs[name]}" for name in CONTESTANTS)
    print(f"{line}{best:>7.2f}{eager:>8.2f}   {spent}", flush=True)
    return best


def _open(model: str, threads: int) -> dict[str, Backend]:
    opener = adapt.load("backend.reference:TorchBackend")
    script = _script(model)
    return {
        "planned": opener(model=model, threads=threads, executor="planned"),
        "eager": opener(model=model, threads=threads),
        "script": opener(model=script, threads=threads),
    }


def _script(model: str) -> Any:
    module = adapt.load("backend.model:load_module")(model, torch.device("cpu")).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(module)))


@contextmanager
def _threads(name: str, threads: int) -> Iterator[None]:
    """A planned backend has threads of its own; each operator then has one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if name == "planned" else threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _serve(backend: Backend, frame: Frame) -> None:
    backend.execute(frame)
    assert backend.get_result() is not None


def _turn(backend: Backend, frame: Frame) -> float:
    """Seconds a frame."""
    frames, started = 0, time.perf_counter()
    while True:
        _serve(backend, frame)
        frames += 1
        passed = time.perf_counter() - started
        if passed >= _TURN_S:
            return passed / frames


def _costs(backend: Backend, frame: Frame) -> str:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(_FAULT_FRAMES):
        _serve(backend, frame)
    faults = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) / _FAULT_FRAMES
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        path = Path(folder) / "trace.bin"
        with trace.tracker(path):
            _serve(backend, frame)  # what a tracer makes CPython allocate once
            trace.mark()
            _serve(backend, frame)
            trace.mark()
        sizes = _between_marks(path)
    return f"{len(sizes)}, {sum(sizes) / 1024:.0f}, {faults:.0f}"


def _between_marks(path: Path) -> list[int]:
    sizes: list[int] = []
    marks = 0
    for record in trace.read(path):
        if record.allocator in trace.FREES or record.allocator == trace.MUNMAP:
            continue
        if record.size == trace.MARK_SIZE and trace.is_mark(record):
            marks += 1
        elif marks == 1:
            sizes.append(record.size)
    assert marks == 2
    return sizes


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", str(max(THREADS)))
    raise SystemExit(main(sys.argv[1:]))
