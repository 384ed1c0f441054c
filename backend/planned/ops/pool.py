"""Pooling over a sliding kernel."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import torch

from backend.planned.ops.axis import Axis
from backend.planned.ops.base import ROWS, Call, Operator, Shape, Site, bind, inside


@dataclass
class MaxPool(Operator):
    """The largest sample under the kernel; what is beyond the frame doesn't count."""

    rows: Axis
    columns: Axis
    round_up: bool = False

    kind = "MaxPool2d"

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        tall, wide = self._size(self.rows, height), self._size(self.columns, width)
        if tall <= 0 or wide <= 0:
            raise self.unusable(f"makes nothing of {width}x{height} samples")
        return channels, tall, wide

    def _size(self, axis: Axis, size: int) -> int:
        if not self.round_up:
            return axis.size(size)
        outputs = -(-(size + axis.before + axis.after - axis.reach) // axis.stride) + 1
        # As torch: the last kernel must begin inside of the frame or its left margin.
        return outputs - 1 if (outputs - 1) * axis.stride >= size + axis.before else outputs

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:
        first, stop = (self.rows if axis == ROWS else self.columns).need(low, high)
        return max(0, first), min(size, stop)

    def phase(self, low: int, high: int, site: Site) -> Hashable:
        first, stop = self.rows.need(low, high)
        return min(first, 0), max(stop, site.sources[0][1]) - site.sources[0][1]

    def method(self) -> str:
        return f"{self.rows.kernel}x{self.columns.kernel}: the maximum tap by tap"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        source, output = site.inputs[0], site.output
        _, height, width = site.sources[0]
        block = output.block(range(low, high), output.columns)
        calls: list[Call] = [bind(block.fill_, float("-inf"))]
        for row in range(low, high):
            for y in range(self.rows.kernel):
                line = self.rows.first(row) + y * self.rows.dilation
                if not 0 <= line < height:
                    continue
                for x in range(self.columns.kernel):
                    columns, across = self._tap(x, output.columns, width)
                    if not columns:
                        continue
                    target = output.block(range(row, row + 1), columns)[0]
                    samples = source.block(range(line, line + 1), across)[0]
                    calls.append(bind(torch.maximum, target, samples, out=target))
        return calls + self.finish(site, low, high)

    def _tap(self, x: int, columns: range, width: int) -> tuple[range, range]:
        """The outputs for which this tap is inside of the frame, and the samples under it."""
        axis = self.columns
        first = axis.first(columns.start) + x * axis.dilation
        samples = range(first, first + axis.stride * len(columns), axis.stride)
        across = inside(samples, 0, width)
        start = columns.start + (across.start - first) // axis.stride
        return range(start, start + len(across)), across


@dataclass
class AveragePool(Operator):
    """The sum under the kernel, zeros beyond the frame included, times a number."""

    rows: Axis
    columns: Axis
    divisor: int

    kind = "AvgPool2d"
    needs_window = True
    needs_zeros = True

    def __post_init__(self) -> None:
        self._share = torch.tensor(1 / self.divisor)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        tall, wide = self.rows.size(height), self.columns.size(width)
        if tall <= 0 or wide <= 0:
            raise self.unusable(f"makes nothing of {width}x{height} samples")
        return channels, tall, wide

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        return (self.rows if axis == ROWS else self.columns).need(low, high)

    def method(self) -> str:
        return f"{self.rows.kernel}x{self.columns.kernel}: added tap by tap"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        source, output = site.inputs[0], site.output
        first, step = self.columns.first(output.columns.start), self.columns.stride
        calls: list[Call] = []
        for row in range(low, high):
            target = output.row(row)
            for y in range(self.rows.kernel):
                line = self.rows.first(row) + y
                for x in range(self.columns.kernel):
                    left = first + x
                    columns = range(left, left + step * len(output.columns), step)
                    samples = source.block(range(line, line + 1), columns)[0]
                    begin = x == y == 0
                    calls.append(bind(target.copy_ if begin else target.add_, samples))
            calls.append(bind(target.mul_, self._share))
        return calls + self.finish(site, low, high)
