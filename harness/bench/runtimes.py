"""Other runtimes, each given the same module as an ONNX file, and buffers that are made once."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from backend.frame import Frame

RUNTIMES = ("onnxruntime", "openvino")
PACKAGES = ("onnx", *RUNTIMES)
"""what they need; torch exports with onnx"""

Serve = Callable[[Frame], NDArray[Any]]


def open_runtime(name: str, module: Any, width: int, height: int, threads: int) -> Serve | None:
    """A function of an 8-bit luma frame of one geometry; None if the runtime is not installed."""
    if any(importlib.util.find_spec(package) is None for package in ("onnx", name)):
        return None
    with tempfile.TemporaryDirectory(prefix="steadyframe-bench-") as folder:
        path = Path(folder) / "model.onnx"
        given = torch.zeros(1, 1, height, width)
        wanted = _export(module, given, path)
        run = _RUN[name](path, given, wanted, threads)
    return _serve(run, given, wanted)


def _export(module: Any, given: Any, path: Path) -> Any:
    """Write the file; an output tensor of the right shape."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch advises for its other exporter
        torch.onnx.export(
            module, (given,), path, input_names=["x"], output_names=["y"], dynamo=False
        )
        return module(given).contiguous().clone()


def _onnxruntime(path: Path, given: Any, wanted: Any, threads: int) -> Callable[[], None]:
    """Bound to both buffers."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for bind, name, tensor in (
        (binding.bind_input, "x", given),
        (binding.bind_output, "y", wanted),
    ):
        bind(name, "cpu", 0, "float32", tuple(tensor.shape), tensor.data_ptr())
    return lambda: session.run_with_iobinding(binding)


def _openvino(path: Path, given: Any, wanted: Any, threads: int) -> Callable[[], None]:
    """One request, with both buffers as its tensors; in float32, as all others compute."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    request.set_input_tensor(openvino.Tensor(given.numpy(), shared_memory=True))
    request.set_output_tensor(openvino.Tensor(wanted.numpy(), shared_memory=True))

    def run() -> None:
        # Not infer(), which makes a dictionary of copies of the results.
        request.start_async()
        request.wait()

    return run


_RUN: dict[str, Callable[[Path, Any, Any, int], Callable[[], None]]] = {
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
}


def _serve(run: Callable[[], None], given: Any, wanted: Any) -> Serve:
    """From pixels to pixels with the operators that TorchBackend takes, in memory made once."""
    plane, result = given[0, 0], wanted[0, 0]
    scale, most = torch.tensor(1 / 255), torch.tensor(255.0)
    pixels = torch.empty(result.shape, dtype=torch.uint8)
    shown: NDArray[Any] = pixels.numpy()

    def serve(frame: Frame) -> NDArray[Any]:
        plane.copy_(torch.from_numpy(frame.data)).mul_(scale)
        run()
        pixels.copy_(result.mul_(most).round_().clamp_(0, 255))
        return shown

    return serve
