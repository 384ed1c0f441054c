"""Ways to put a frame through the same model: torch's own, the planned executor, other runtimes.

Each is given an 8-bit luma frame and gives back 8-bit luma, rounded as TorchBackend does it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from backend.frame import Frame
from backend.protocol import Backend
from harness import adapt
from harness.bench import runtimes

Pixels: TypeAlias = NDArray[Any]

TORCH = ("naive", "eager", "script")
"""what people who stay with torch can choose from"""
CONTESTANTS = (*TORCH, "planned", "onnxruntime", "openvino")
_MOST_DIFFERENCE = 1
"""of two 8-bit results: a value between two numbers may go either way"""


@dataclass(frozen=True, slots=True)
class Contestant:
    """One of them, opened."""

    serve: Callable[[Frame], Pixels]
    """a frame [H, W] to its result's pixels; they may be overwritten by the next call"""
    close: Callable[[], None]
    torch_threads: int
    """what torch is to take for each operator while this one is at work"""


def module(model: str) -> Any:
    """A model that ships, as a torch module in evaluation mode."""
    return adapt.load("backend.model:load_module")(model, torch.device("cpu")).eval()


def open_one(name: str, model: str, width: int, height: int, threads: int) -> Contestant | None:
    """Open a contestant for one geometry; None for a runtime that is not installed."""
    if name == "naive":
        return Contestant(_naive(module(model)), _nothing, threads)
    if name in runtimes.RUNTIMES:
        made = runtimes.open_runtime(name, module(model), width, height, threads)
        # torch's threads wait for their next work in a loop, at the expense of the runtime's own.
        return None if made is None else Contestant(made, _nothing, 1)
    opener = adapt.load("backend.reference:TorchBackend")
    if name == "planned":
        # It has threads of its own; each operator then has one.
        return _served(opener(model=model, threads=threads, executor="planned"), 1)
    return _served(opener(model=model if name == "eager" else _script(model)), threads)


@contextmanager
def opened(model: str, width: int, height: int, threads: int) -> Iterator[dict[str, Contestant]]:
    """All that are there, for one geometry."""
    before = torch.get_num_threads()
    found: dict[str, Contestant] = {}
    try:
        for name in CONTESTANTS:
            one = open_one(name, model, width, height, threads)
            if one is not None:
                found[name] = one
        yield found
    finally:
        for one in found.values():
            one.close()
        torch.set_num_threads(before)


def serve(contestant: Contestant, frame: Frame) -> Pixels:
    """One frame, with torch's number of threads as the contestant needs it."""
    if torch.get_num_threads() != contestant.torch_threads:
        torch.set_num_threads(contestant.torch_threads)
    return contestant.serve(frame)


def check_agreement(contestants: dict[str, Contestant], frame: Frame) -> None:
    """Raise RuntimeError if one computes something else than the eager module: no contest then."""
    wanted = serve(contestants["eager"], frame).astype(np.int16)
    for name, one in contestants.items():
        found = serve(one, frame)
        if found.shape != wanted.shape or np.abs(found - wanted).max() > _MOST_DIFFERENCE:
            raise RuntimeError(f"the result of {name} is not that of the eager module")


def _served(backend: Backend, torch_threads: int) -> Contestant:
    def serve(frame: Frame) -> Pixels:
        backend.execute(frame)
        result = backend.get_result()
        assert result is not None
        pixels: Pixels = result.data
        return pixels

    return Contestant(serve, backend.close, torch_threads)


def _naive(model: Any) -> Callable[[Frame], Pixels]:
    """What people write: new tensors on every frame."""

    def serve(frame: Frame) -> Pixels:
        with torch.inference_mode():
            x = torch.from_numpy(frame.data).float().div(255)[None, None]
            y = model(x)[0, 0]
            pixels: Pixels = y.mul(255).round().clamp(0, 255).to(torch.uint8).numpy()
            return pixels

    return serve


def _script(model: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(module(model))))


def _nothing() -> None:
    pass
