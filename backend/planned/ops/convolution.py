"""Convolution row by row: one matrix product per column of the kernel, with nothing copied.

In a window the kernel's rows are one matrix (see `places`), so that a row of outputs is the sum,
over the kernel's columns, of weights [outputs, rows * inputs] times that matrix, shifted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch

from backend.planned.ops.axis import Axis
from backend.planned.ops.base import ROWS, Call, Operator, Shape, Site, bind
from backend.planned.places import Window


@dataclass
class Convolution(Operator):
    """Any kernel, padding, dilation and groups; a horizontal stride is `Unroll`'s business."""

    weight: torch.Tensor
    """[outputs, inputs / groups, kernel rows, kernel columns]"""
    bias: torch.Tensor | None
    rows: Axis
    columns: Axis
    groups: int = 1
    _weights: list[torch.Tensor] = field(init=False, repr=False)

    kind = "Conv2d"
    needs_window = True
    needs_zeros = True

    def __post_init__(self) -> None:
        self.prepare()

    def prepare(self) -> None:
        """Make the factors of weight and bias as they are now."""
        assert self.columns.stride == 1
        self.outputs = self.weight.shape[0]
        self.inputs = self.weight.shape[1] * self.groups
        self._column = None if self.bias is None else self.bias.reshape(-1, 1)
        self._weights = self._prepare()

    @property
    def _merges_rows(self) -> bool:
        return self.groups == 1 and self.rows.dilation == 1

    def _prepare(self) -> list[torch.Tensor]:
        """The left factors, in the order of `_products`."""
        weight = self.weight
        if self._merges_rows:
            # [outputs, (row, input)] for each column
            return [
                weight[:, :, :, x].permute(0, 2, 1).reshape(self.outputs, -1).contiguous()
                for x in range(self.columns.kernel)
            ]
        share = self.outputs // self.groups
        return [
            weight[group * share : (group + 1) * share, :, y, x].contiguous()
            for group in range(self.groups)
            for y in range(self.rows.kernel)
            for x in range(self.columns.kernel)
        ]

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        if channels != self.inputs:
            raise self.unusable(f"takes {self.inputs} channels, not {channels}")
        height, width = self.rows.size(height), self.columns.size(width)
        if height <= 0 or width <= 0:
            raise self.unusable(f"makes nothing of {inputs[0][2]}x{inputs[0][1]} samples")
        return self.outputs, height, width

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        return (self.rows if axis == ROWS else self.columns).need(low, high)

    def source_margin(self) -> int:
        # A matrix whose lines are longer than their distance would be copied by torch.
        return max(0, self.columns.before + self.columns.after - (self.columns.reach - 1))

    def method(self) -> str:
        kernel = f"{self.rows.kernel}x{self.columns.kernel}"
        groups = f", {self.groups} groups" if self.groups > 1 else ""
        return f"{kernel}: {len(self._weights)} products a row{groups}"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        return [*self._rows(site, low, high), *self.finish(site, low, high)]

    def _rows(self, site: Site, low: int, high: int) -> Iterator[Call]:
        if low >= high:
            return
        output = site.output
        if self._column is not None:
            block = output.block(range(low, high), output.columns)
            yield bind(block.copy_, self._column.expand(block.shape))
        for row in range(low, high):
            seen: set[int] = set()
            for target, left, right in self._products(site, row):
                if self._column is None and target.data_ptr() not in seen:
                    yield bind(torch.mm, left, right, out=target)
                else:
                    yield bind(target.addmm_, left, right)
                seen.add(target.data_ptr())

    def _products(
        self, site: Site, row: int
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
        """Target, left and right factor of each product for a row of outputs."""
        source, output = site.inputs[0], site.output
        assert isinstance(source, Window)
        width = len(output.columns)
        top = self.rows.first(row)
        left = output.columns.start - self.columns.before
        lefts = iter(self._weights)
        if self._merges_rows:
            target = output.row(row)
            for x in range(self.columns.kernel):
                column = left + x * self.columns.dilation
                yield target, next(lefts), source.lines(top, self.rows.kernel, column, width)
            return
        share_in, share_out = self.inputs // self.groups, self.outputs // self.groups
        for group in range(self.groups):
            target = output.row(row, range(group * share_out, (group + 1) * share_out))
            channels = range(group * share_in, (group + 1) * share_in)
            for y in range(self.rows.kernel):
                for x in range(self.columns.kernel):
                    column = left + x * self.columns.dilation
                    line = top + y * self.rows.dilation
                    yield target, next(lefts), source.group_lines(line, channels, column, width)
