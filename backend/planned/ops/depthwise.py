"""Layers that treat each channel by itself: depthwise convolution, lone batch normalisation."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from backend.planned.ops.axis import Axis
from backend.planned.ops.base import ROWS, Call, Operator, Shape, Site, bind


@dataclass
class Depthwise(Operator):
    """Each tap of the kernel multiplied and added to a whole row of all channels."""

    weight: torch.Tensor
    """[channels * multiplier, 1, kernel rows, kernel columns]"""
    bias: torch.Tensor | None
    rows: Axis
    columns: Axis
    channels: int
    layer: str = "Conv2d"

    needs_window = True
    needs_zeros = True

    def __post_init__(self) -> None:
        self.prepare()

    @property
    def scales_only(self) -> bool:
        """Whether it is one multiplication and addition for each sample."""
        return self.weight.shape[0] == self.channels and self.rows == self.columns == Axis(1)

    def prepare(self) -> None:
        """Make the factors of weight and bias as they are now."""
        self.kind = self.layer
        self._multiplier = self.weight.shape[0] // self.channels
        self._taps = [
            [
                [
                    self.weight[part :: self._multiplier, :, y, x].contiguous()
                    for x in range(self.columns.kernel)
                ]
                for y in range(self.rows.kernel)
            ]
            for part in range(self._multiplier)
        ]
        self._column = None if self.bias is None else self.bias.reshape(-1, 1)

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        if channels != self.channels:
            raise self.unusable(f"takes {self.channels} channels, not {channels}")
        if self.rows.size(height) <= 0 or self.columns.size(width) <= 0:
            raise self.unusable(f"makes nothing of {width}x{height} samples")
        return self.weight.shape[0], self.rows.size(height), self.columns.size(width)

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        return (self.rows if axis == ROWS else self.columns).need(low, high)

    def method(self) -> str:
        return f"{self.rows.kernel}x{self.columns.kernel}: multiplied and added tap by tap"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        output, calls = site.output, list[Call]()
        if self._column is not None:
            block = output.block(range(low, high), output.columns)
            calls.append(bind(block.copy_, self._column.expand(block.shape)))
        for row in range(low, high):
            for part in range(self._multiplier):
                calls += self._row(site, row, part)
        return calls + self.finish(site, low, high)

    def _row(self, site: Site, row: int, part: int) -> list[Call]:
        source, output = site.inputs[0], site.output
        target = output.row(row, range(part, output.channels, self._multiplier))
        first = self.columns.first(output.columns.start)
        step = self.columns.stride
        calls: list[Call] = []
        for y, taps in enumerate(self._taps[part]):
            line = self.rows.first(row) + y * self.rows.dilation
            for x, tap in enumerate(taps):
                left = first + x * self.columns.dilation
                columns = range(left, left + step * len(output.columns), step)
                samples = source.block(range(line, line + 1), columns)[0]
                weight = tap.reshape(-1, 1).expand(target.shape)
                if calls or self._column is not None:
                    calls.append(bind(target.addcmul_, samples, weight))
                else:
                    calls.append(bind(torch.mul, samples, weight, out=target))
        return calls
