"""From torch's modules to operators, one function for each type of layer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from backend.planned.graph import Graph
from backend.planned.ops.axis import Axis
from backend.planned.ops.base import Activation
from backend.planned.ops.convolution import Convolution
from backend.planned.ops.depthwise import Depthwise
from backend.planned.ops.elementwise import Activate, PRelu
from backend.planned.ops.minimal import OUTPUTS, MinimalConvolution
from backend.planned.ops.pads import ReflectionPad, ZeroPad
from backend.planned.ops.pool import AveragePool, MaxPool
from backend.planned.ops.resize import Bilinear, Nearest, Shuffle
from backend.planned.ops.unroll import Unroll
from backend.planned.ops.whole import Flatten, GlobalAverage, Linear
from backend.planned.transposed import phases

_THIN = 8
"""Fewer input channels than this make products too thin: the kernel's columns are unrolled."""


class UnsupportedLayerError(ValueError):
    """A layer that no operator stands for. The text names it."""

    def __init__(self, name: str, kind: str, why: str = "") -> None:
        reason = f": {why}" if why else ""
        super().__init__(
            f"the planned executor can't run layer {name!r} ({kind}){reason}; "
            "open the model with executor='auto' or 'torch'"
        )


Build = Callable[[Graph, str, Any, int], int]
"""Appends a layer, given its name, module and input value; the value it makes."""


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def activation(graph: Graph, name: str, kind: str, bind: Callable[..., Any], value: int) -> int:
    """Append an activation; `bind` makes a call from a block."""
    return graph.append(Activate(name, kind, epilogue=[Activation(kind, bind)]), value)


def relu(graph: Graph, name: str, layer: Any, value: int) -> int:  # noqa: ARG001
    """max(x, 0)."""
    return activation(graph, name, "ReLU", lambda block: block.relu_, value)


def sigmoid(graph: Graph, name: str, layer: Any, value: int) -> int:  # noqa: ARG001
    """1 / (1 + exp(-x))."""
    return activation(graph, name, "Sigmoid", lambda block: block.sigmoid_, value)


def tanh(graph: Graph, name: str, layer: Any, value: int) -> int:  # noqa: ARG001
    """The hyperbolic tangent."""
    return activation(graph, name, "Tanh", lambda block: block.tanh_, value)


def leaky(graph: Graph, name: str, slope: float, value: int) -> int:
    """x, or slope * x where that is negative."""

    def bind(block: torch.Tensor) -> Any:
        return functools.partial(torch.nn.functional.leaky_relu_, block, slope)

    return activation(graph, name, "LeakyReLU", bind, value)


def clamp(graph: Graph, name: str, low: float | None, high: float | None, value: int) -> int:
    """Between two numbers."""

    def bind(block: torch.Tensor) -> Any:
        return functools.partial(block.clamp_, low, high)

    return activation(graph, name, "Clamp", bind, value)


def flatten(graph: Graph, name: str, value: int) -> int:
    """All but the batch in one dimension; twice is once."""
    if value in graph.flat:
        return value
    made = graph.append(Flatten(name), value)
    graph.flat.add(made)
    return made


def _prelu(graph: Graph, name: str, layer: nn.PReLU, value: int) -> int:
    return graph.append(PRelu(name, _constant(layer.weight)), value)


def _convolution(graph: Graph, name: str, layer: nn.Conv2d, value: int) -> int:
    if layer.padding_mode not in ("zeros", "reflect"):
        raise UnsupportedLayerError(name, "Conv2d", f"padding mode {layer.padding_mode!r}")
    axes = []
    for axis, kernel in enumerate(layer.kernel_size):
        dilation, stride = layer.dilation[axis], layer.stride[axis]
        before, after = _margins(layer.padding, axis, dilation * (kernel - 1))
        axes.append(Axis(kernel, stride, dilation, before, after))
    rows, columns = axes
    if layer.padding_mode == "reflect":
        margins = [(axis.before, axis.after) for axis in axes]
        value = _pad(graph, name, ReflectionPad, margins[0], margins[1], value)
        rows = Axis(rows.kernel, rows.stride, rows.dilation)
        columns = Axis(columns.kernel, columns.stride, columns.dilation)
    bias = None if layer.bias is None else _constant(layer.bias)
    return convolve(graph, name, _constant(layer.weight), bias, rows, columns, layer.groups, value)


def _margins(padding: Any, axis: int, total: int) -> tuple[int, int]:
    if padding == "valid":
        return 0, 0
    if padding == "same":
        return total // 2, total - total // 2
    return padding[axis], padding[axis]


def convolve(
    graph: Graph,
    name: str,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    rows: Axis,
    columns: Axis,
    groups: int,
    value: int,
) -> int:
    """Append a convolution by the method that suits it.

    Depthwise: tap by tap. Horizontal strides, and few input channels: the kernel's columns
    unrolled, so that one product has them all. Kernels of 3 or 5 rows on enough channels: minimal
    filters. All others: direct products.
    """
    inputs = weight.shape[1] * groups
    if groups == inputs > 1:
        return graph.append(Depthwise(name, weight, bias, rows, columns, inputs), value)
    thin = weight.shape[1] < _THIN and columns.kernel > 1 and groups == 1
    if columns.stride > 1 or thin:
        value = graph.append(Unroll(name, columns), value)
        # Line c * kernel + x: the order of the weight's own dimensions, once rows are moved out.
        weight = weight.permute(0, 1, 3, 2).reshape(weight.shape[0], -1, rows.kernel, 1)
        columns = Axis(1)
    minimal = (
        groups == 1
        and rows.stride == rows.dilation == 1
        and rows.kernel in OUTPUTS
        and weight.shape[1] >= _THIN
        and not thin
    )
    kind = MinimalConvolution if minimal else Convolution
    return graph.append(kind(name, weight, bias, rows, columns, groups), value)


def _transposed(graph: Graph, name: str, layer: nn.ConvTranspose2d, value: int) -> int:
    found = phases(layer)
    tall, wide = layer.stride
    bias = None
    if layer.bias is not None:
        bias = _constant(layer.bias).repeat_interleave(tall * wide)
    value = convolve(
        graph, name, found.weight, bias, found.rows, found.columns, layer.groups, value
    )
    if tall == wide == 1:
        return value
    return graph.append(Shuffle(name, (tall, wide), found.cut), value)


def _batch_norm(graph: Graph, name: str, layer: nn.BatchNorm2d, value: int) -> int:
    if layer.running_mean is None or layer.running_var is None:
        raise UnsupportedLayerError(name, "BatchNorm2d", "it keeps no running statistics")
    scale = (layer.running_var.detach().double() + layer.eps).rsqrt()
    if layer.weight is not None:
        scale = scale * layer.weight.detach().double()
    shift = -layer.running_mean.detach().double() * scale
    if layer.bias is not None:
        shift = shift + layer.bias.detach().double()
    weight = scale.float().reshape(-1, 1, 1, 1)
    axis = Axis(1)
    return graph.append(
        Depthwise(name, weight, shift.float(), axis, axis, len(scale), "BatchNorm2d"), value
    )


def _linear(graph: Graph, name: str, layer: nn.Linear, value: int) -> int:
    if value not in graph.flat:
        raise UnsupportedLayerError(name, "Linear", "its input isn't flattened")
    bias = None if layer.bias is None else _constant(layer.bias)
    made = graph.append(Linear(name, _constant(layer.weight), bias), value)
    graph.flat.add(made)
    return made


def _max_pool(graph: Graph, name: str, layer: nn.MaxPool2d, value: int) -> int:
    if layer.return_indices:
        raise UnsupportedLayerError(name, "MaxPool2d", "it returns indices")
    kernels, strides = _pair(layer.kernel_size), _pair(layer.stride)
    dilations, paddings = _pair(layer.dilation), _pair(layer.padding)
    rows, columns = (
        Axis(*numbers, numbers[-1])
        for numbers in zip(kernels, strides, dilations, paddings, strict=True)
    )
    return graph.append(MaxPool(name, rows, columns, layer.ceil_mode), value)


def _average_pool(graph: Graph, name: str, layer: nn.AvgPool2d, value: int) -> int:
    paddings = _pair(layer.padding)
    if layer.ceil_mode or (any(paddings) and not layer.count_include_pad):
        why = "it divides by another number at the edges (ceil_mode, count_include_pad)"
        raise UnsupportedLayerError(name, "AvgPool2d", why)
    kernels, strides = _pair(layer.kernel_size), _pair(layer.stride)
    rows, columns = (
        Axis(kernel, stride, 1, padding, padding)
        for kernel, stride, padding in zip(kernels, strides, paddings, strict=True)
    )
    divisor = layer.divisor_override or kernels[0] * kernels[1]
    return graph.append(AveragePool(name, rows, columns, divisor), value)


def _global_average(graph: Graph, name: str, layer: nn.AdaptiveAvgPool2d, value: int) -> int:
    if _pair(layer.output_size) != (1, 1):
        raise UnsupportedLayerError(name, "AdaptiveAvgPool2d", "its output is larger than 1x1")
    return graph.append(GlobalAverage(name), value)


def _upsample(graph: Graph, name: str, layer: nn.Upsample, value: int) -> int:
    return resize(graph, name, layer.scale_factor, layer.mode, layer.align_corners, value)


def resize(
    graph: Graph, name: str, scale: Any, mode: str, align_corners: bool | None, value: int
) -> int:
    """Append an enlargement by a whole factor."""
    scales = scale if isinstance(scale, tuple | list) else (scale, scale)
    if scale is None or any(one is None or one < 1 or one != int(one) for one in scales):
        raise UnsupportedLayerError(name, "Upsample", "its scale factor isn't a whole number")
    if align_corners:
        raise UnsupportedLayerError(name, "Upsample", "it aligns corners")
    factors = (int(scales[0]), int(scales[1]))
    if mode not in ("nearest", "bilinear"):
        raise UnsupportedLayerError(name, "Upsample", f"mode {mode!r}")
    return graph.append((Nearest if mode == "nearest" else Bilinear)(name, factors), value)


def _shuffle(graph: Graph, name: str, layer: nn.PixelShuffle, value: int) -> int:
    return graph.append(Shuffle(name, (layer.upscale_factor, layer.upscale_factor)), value)


def _pad(
    graph: Graph, name: str, kind: Any, rows: tuple[int, int], columns: tuple[int, int], value: int
) -> int:
    if min(*rows, *columns) < 0:
        raise UnsupportedLayerError(name, kind.kind, "it cuts off samples")
    return graph.append(kind(name, (rows[0], columns[0]), (rows[1], columns[1])), value)


def _pad_layer(kind: Any, graph: Graph, name: str, layer: Any, value: int) -> int:
    left, right, above, below = layer.padding
    return _pad(graph, name, kind, (above, below), (left, right), value)


def _flatten(graph: Graph, name: str, layer: nn.Flatten, value: int) -> int:
    if layer.start_dim != 1 or layer.end_dim not in (-1, 3):
        raise UnsupportedLayerError(name, "Flatten", "it keeps dimensions")
    return flatten(graph, name, value)


def _same(graph: Graph, name: str, layer: Any, value: int) -> int:  # noqa: ARG001
    return value


def _constant(parameter: torch.Tensor) -> torch.Tensor:
    return parameter.detach().contiguous()


LAYERS: dict[type[nn.Module], Build] = {
    nn.Conv2d: _convolution,
    nn.ConvTranspose2d: _transposed,
    nn.Linear: _linear,
    nn.BatchNorm2d: _batch_norm,
    nn.ReLU: relu,
    nn.ReLU6: lambda graph, name, _, value: clamp(graph, name, 0, 6, value),
    nn.Hardtanh: lambda graph, name, layer, value: clamp(
        graph, name, layer.min_val, layer.max_val, value
    ),
    nn.LeakyReLU: lambda graph, name, layer, value: leaky(graph, name, layer.negative_slope, value),
    nn.PReLU: _prelu,
    nn.Sigmoid: sigmoid,
    nn.Tanh: tanh,
    nn.PixelShuffle: _shuffle,
    nn.Upsample: _upsample,
    nn.MaxPool2d: _max_pool,
    nn.AvgPool2d: _average_pool,
    nn.AdaptiveAvgPool2d: _global_average,
    nn.ZeroPad2d: functools.partial(_pad_layer, ZeroPad),
    nn.ReflectionPad2d: functools.partial(_pad_layer, ReflectionPad),
    nn.Flatten: _flatten,
    nn.Identity: _same,
    nn.Dropout: _same,
    nn.Dropout2d: _same,
}
