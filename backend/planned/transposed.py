"""A transposed convolution as an ordinary one with the stride's phases as channels, shuffled.

With stride s, output s*q + r takes the inputs q + j times tap (r + padding - s*j) / dilation, where
that is whole and there is such a tap. So for each phase r it is a convolution of the input with a
kernel of about kernel / s taps, and the phases are what a pixel shuffle lays side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from backend.planned.ops.axis import Axis


@dataclass(frozen=True, slots=True)
class Phases:
    """That convolution: [outputs * phases, inputs / groups, rows, columns], and what is cut off."""

    weight: torch.Tensor
    rows: Axis
    columns: Axis
    cut: tuple[int, int]
    """rows and columns that the shuffle makes too many"""


def phases(layer: nn.ConvTranspose2d) -> Phases:
    """The convolution that stands for a transposed one."""
    axes, cuts, spans = [], [], []
    for axis in (0, 1):
        stride, padding = layer.stride[axis], layer.padding[axis]
        reach = layer.dilation[axis] * (layer.kernel_size[axis] - 1) + 1
        first, last = -((reach - 1 - padding) // stride), (stride - 1 + padding) // stride
        more = reach - 2 * padding + layer.output_padding[axis]
        blocks = -(-more // stride)
        kernel = last - first + 1
        axes.append(Axis(kernel, 1, 1, -first, kernel - 2 + blocks + first))
        cuts.append(blocks * stride - more)
        spans.append(range(first, last + 1))
    return Phases(_weight(layer, *spans), axes[0], axes[1], (cuts[0], cuts[1]))


def _weight(layer: nn.ConvTranspose2d, rows: range, columns: range) -> torch.Tensor:
    given = layer.weight.detach()  # [inputs, outputs / groups, rows, columns]
    outputs, share = layer.out_channels, given.shape[0] // layer.groups
    given = given.reshape(layer.groups, share, -1, *given.shape[2:]).transpose(1, 2)
    given = given.reshape(outputs, share, *given.shape[3:])
    tall, wide = layer.stride
    weight = torch.zeros(outputs, tall, wide, share, len(rows), len(columns))
    for i in range(tall):
        for y, row in enumerate(rows):
            tap_row = _tap(layer, 0, i, row)
            for j in range(wide):
                for x, column in enumerate(columns):
                    tap_column = _tap(layer, 1, j, column)
                    if tap_row is not None and tap_column is not None:
                        weight[:, i, j, :, y, x] = given[:, :, tap_row, tap_column]
    return weight.reshape(outputs * tall * wide, share, len(rows), len(columns))


def _tap(layer: nn.ConvTranspose2d, axis: int, phase: int, shift: int) -> int | None:
    at = phase + layer.padding[axis] - layer.stride[axis] * shift
    tap, rest = divmod(at, layer.dilation[axis])
    return tap if rest == 0 and 0 <= tap < layer.kernel_size[axis] else None
