"""What a bound call of torch does, as plain numbers: which operator, on which memory.

Only calls whose result can be had from float32 memory by one product or by one pass over all
samples are understood; any other remains a call of torch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import torch

from backend.planned.ops.base import Call

DIMS = 4
"""of operators on samples, after adjacent dimensions became one"""


class Kind(IntEnum):
    """The operators of native.c, in its order."""

    GEMM = 0
    FILL = 1
    COPY = 2
    RELU = 3
    LEAKY_RELU = 4
    CLAMP = 5
    ADD = 6
    SUB = 7
    MUL = 8
    MINIMUM = 9
    MAXIMUM = 10
    LERP = 11
    ADDCMUL = 12


_TAKES = {
    Kind.FILL: (0, 1),
    Kind.COPY: (1, 0),
    Kind.RELU: (1, 0),
    Kind.LEAKY_RELU: (1, 1),
    Kind.CLAMP: (1, 2),
    Kind.ADD: (2, 0),
    Kind.SUB: (2, 0),
    Kind.MUL: (2, 0),
    Kind.MINIMUM: (2, 0),
    Kind.MAXIMUM: (2, 0),
    Kind.LERP: (2, 1),
    Kind.ADDCMUL: (3, 0),
}
"""how many tensors and how many numbers"""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operator. Its output comes first among the operands; strides count samples."""

    kind: Kind
    operands: tuple[torch.Tensor, ...]
    size: tuple[int, ...]
    """of all operands; for GEMM m, n, k"""
    strides: tuple[tuple[int, ...], ...]
    """of each operand; for GEMM the leading dimension, and 1 if the matrix is transposed"""
    numbers: tuple[float, ...] = ()
    """for GEMM what the output is multiplied with before"""


def operation_of(call: Call) -> Operation | None:
    """What the call does, None if that has no operator here."""
    name, arguments, output = _taken_apart(call)
    tensors = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
    if output is None or not all(map(_is_plain, (output, *tensors))):
        return None
    if name in ("mm", "addmm"):
        return _product(name, output, tensors)
    kind = Kind.__members__.get(name.upper())
    if kind is None:
        return None
    numbers = [argument for argument in arguments if not isinstance(argument, torch.Tensor)]
    if kind is Kind.CLAMP and len(numbers) == 2:
        numbers = [
            limit if number is None else number
            for number, limit in zip(numbers, (-math.inf, math.inf), strict=True)
        ]
    if (len(tensors), len(numbers)) != _TAKES[kind]:
        return None
    return _of_samples(kind, output, tensors, tuple(map(float, numbers)))


def _taken_apart(call: Any) -> tuple[str, list[Any], torch.Tensor | None]:
    """Name, arguments and output. A name that ends with _ works in place, as always in torch."""
    function, arguments, keywords = call, [], {}
    if isinstance(call, functools.partial):
        function, arguments, keywords = call.func, list(call.args), dict(call.keywords)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, torch.Tensor):
        arguments.insert(0, owner)
    name = function.__name__
    output = keywords.pop("out", None)
    if name.endswith("_"):
        name, output = name.removesuffix("_"), arguments[0]
    if keywords:
        return name, arguments, None
    if name == "zero":
        return "fill", [0.0], output
    if name in ("fill", "copy"):
        del arguments[0]
    return name, arguments, output


def _is_plain(tensor: torch.Tensor) -> bool:
    return bool(tensor.dtype == torch.float32) and bool(tensor.device.type == "cpu")


def _product(name: str, output: torch.Tensor, tensors: list[torch.Tensor]) -> Operation | None:
    if name == "addmm":
        if tensors[0] is not output:
            return None
        del tensors[0]
    left, right = tensors
    strides = [layout for matrix in (output, left, right) if (layout := _layout(matrix))]
    if len(strides) < 3 or strides[0][1]:
        return None
    size = (left.shape[0], right.shape[1], left.shape[1])
    before = float(name == "addmm")
    return Operation(Kind.GEMM, (output, left, right), size, tuple(strides), (before,))


def _layout(matrix: torch.Tensor) -> tuple[int, int] | None:
    """The leading dimension, and whether columns are what lies together; None if neither does."""
    (rows, columns), (down, right) = matrix.shape, matrix.stride()
    if columns == 1 or right == 1:
        leading = columns if rows == 1 else down
        if leading >= columns:
            return max(1, leading), 0
    if (rows == 1 or down == 1) and right >= rows:
        return max(1, right), 1
    return None


def _of_samples(
    kind: Kind, output: torch.Tensor, tensors: Sequence[torch.Tensor], numbers: tuple[float, ...]
) -> Operation | None:
    operands = (output, *(tensor.expand(output.shape) for tensor in tensors))
    size, strides = _merged(output.shape, [operand.stride() for operand in operands])
    missing = DIMS - len(size)
    if missing < 0:
        return None
    return Operation(
        kind,
        operands,
        (1,) * missing + size,
        tuple((0,) * missing + stride for stride in strides),
        numbers,
    )


def _merged(
    shape: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The same samples in as few dimensions as can be."""
    kept: list[tuple[int, tuple[int, ...]]] = []
    for dim, size in enumerate(shape):
        steps = tuple(stride[dim] for stride in strides)
        if size == 1:
            continue
        if kept and all(
            before == step * size for before, step in zip(kept[-1][1], steps, strict=True)
        ):
            kept[-1] = (kept[-1][0] * size, steps)
        else:
            kept.append((size, steps))
    return (
        tuple(size for size, _ in kept),
        [tuple(steps[operand] for _, steps in kept) for operand in range(len(strides))],
    )
