"""From torch's functions to operators: what a forward does between its layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from backend.planned import layers
from backend.planned.graph import Graph, Value
from backend.planned.layers import UnsupportedLayerError
from backend.planned.ops.elementwise import Arithmetic, Concatenate, WithConstant

Build = Callable[..., int]
"""Appends what a function does, given its own arguments, the frames among them as `Value`."""


def _arithmetic(function: Callable[..., torch.Tensor]) -> Build:
    name = function.__name__

    def build(graph: Graph, one: Any, other: Any, **options: Any) -> int:
        if options:
            raise UnsupportedLayerError(name, "function", f"with {', '.join(options)}")
        if isinstance(one, Value) and isinstance(other, Value):
            return graph.append(Arithmetic(name, function), one, other)
        first = not isinstance(one, Value)
        constant = _per_channel(name, one if first else other)
        value = other if first else one
        return graph.append(WithConstant(name, function, constant, first), value)

    return build


def _per_channel(name: str, constant: Any) -> torch.Tensor:
    """A number, or a tensor of one number per channel, as a column."""
    if isinstance(constant, int | float) and not isinstance(constant, bool):
        return torch.full((1, 1), float(constant))
    if isinstance(constant, torch.Tensor):
        shape = (1,) * (4 - constant.dim()) + tuple(constant.shape)
        if len(shape) == 4 and shape[0] == shape[2] == shape[3] == 1:
            return constant.detach().float().reshape(-1, 1)
    raise UnsupportedLayerError(name, "function", "an operand is neither a number per channel")


def _cat(graph: Graph, tensors: Sequence[Any], dim: int = 0) -> int:
    if dim not in (1, -3) or not all(isinstance(value, Value) for value in tensors):
        raise UnsupportedLayerError("cat", "function", "it joins something else than channels")
    return graph.append(Concatenate("cat"), *tensors)


def _relu(graph: Graph, value: Value, inplace: bool = False) -> int:  # noqa: ARG001
    return layers.relu(graph, "relu", None, value)


def _sigmoid(graph: Graph, value: Value) -> int:
    return layers.sigmoid(graph, "sigmoid", None, value)


def _tanh(graph: Graph, value: Value) -> int:
    return layers.tanh(graph, "tanh", None, value)


def _leaky_relu(
    graph: Graph,
    value: Value,
    negative_slope: float = 0.01,
    inplace: bool = False,  # noqa: ARG001
) -> int:
    return layers.leaky(graph, "leaky_relu", negative_slope, value)


def _clamp(graph: Graph, value: Value, min: Any = None, max: Any = None) -> int:
    if any(isinstance(limit, torch.Tensor | Value) for limit in (min, max)):
        raise UnsupportedLayerError("clamp", "function", "its limits aren't numbers")
    return layers.clamp(graph, "clamp", min, max, value)


def _flatten(graph: Graph, value: Value, start_dim: int = 0, end_dim: int = -1) -> int:
    if start_dim != 1 or end_dim not in (-1, 3):
        raise UnsupportedLayerError("flatten", "function", "it keeps dimensions")
    return layers.flatten(graph, "flatten", value)


def _interpolate(
    graph: Graph,
    value: Value,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,  # noqa: ARG001
    antialias: bool = False,
) -> int:
    if size is not None or antialias:
        raise UnsupportedLayerError("interpolate", "function", "with size or antialias")
    return layers.resize(graph, "interpolate", scale_factor, mode, align_corners, value)


CALLS: dict[str, Build] = {
    "add": _arithmetic(torch.add),
    "sub": _arithmetic(torch.sub),
    "mul": _arithmetic(torch.mul),
    "cat": _cat,
    "relu": _relu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "leaky_relu": _leaky_relu,
    "clamp": _clamp,
    "flatten": _flatten,
    "interpolate": _interpolate,
}
"""By the function's name, which is also the method's."""
