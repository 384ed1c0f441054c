"""Convolution with 3 or 5 kernel rows by Winograd's minimal filters: half the products or fewer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from backend.planned.ops.base import Call, Site, bind
from backend.planned.ops.convolution import Convolution
from backend.planned.ops.winograd import minimal_filter
from backend.planned.places import Window

OUTPUTS = 4
"""rows made at once: F(4, 3) has 6 products instead of 12, F(4, 5) has 8 instead of 20"""
TAPS = (3, 5)
_MERGED_LINES = 24


@dataclass
class MinimalConvolution(Convolution):
    """The rows in fours; those left over, at the ends of a frame, by direct products.

    With few outputs the kernel's columns are merged: one product makes the lines of all of them,
    and the transform back adds them up, reading each line one sample further to the right. (The
    distance of lines in that product is one sample more than they take, so that the shift is a
    part of the stride.)
    """

    writes_planes = False

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self._merges_rows
        assert self.rows.stride == 1
        taps = self.columns.kernel
        self._merged = taps > 1 and self.columns.dilation == 1
        self._merged = self._merged and self.outputs * taps <= _MERGED_LINES
        self._filter = minimal_filter(OUTPUTS, self.rows.kernel)
        self._forth = self._filter.forth
        kernel = torch.einsum("tr,oirx->txoi", self._filter.kernel, self.weight.double()).float()
        points = self._filter.points
        back = self._filter.back
        if self._merged:
            self._kernels = [
                [kernel[t].reshape(-1, self.inputs).contiguous()] for t in range(points)
            ]
            back = back.repeat_interleave(taps, dim=1)
        else:
            self._kernels = [
                [kernel[t, x].contiguous() for x in range(taps)] for t in range(points)
            ]
        if self.bias is not None:
            # one more line: the bias, which every row gets once
            back = torch.cat([back, torch.ones(OUTPUTS, 1)], dim=1)
        self._back = back.contiguous()

    def method(self) -> str:
        merged = ", columns merged" if self._merged else ""
        kernel = f"{self.rows.kernel}x{self.columns.kernel}"
        return f"{kernel}: minimal filter F({OUTPUTS}, {self.rows.kernel}){merged}"

    def margin(self) -> int:
        return self.columns.kernel - 1 if self._merged else 0

    def source_margin(self) -> int:
        return max(super().source_margin(), self.margin()) + self.margin()

    def _products_line(self, lines: int) -> int:
        """The distance of two lines of the transform back."""
        return lines + 1 if self._merged else lines

    def _sizes(self, source: tuple[int, int], lines: int) -> tuple[int, int]:
        """Floats of the transformed input and of the products, given (pad, row) of the source."""
        forth = self._filter.points * sum(source)
        back = self._back.shape[1] * self._products_line(lines)
        return forth, back

    def scratch(self, inputs: Sequence[tuple[int, int]], output: tuple[int, int]) -> int:
        return sum(self._sizes(inputs[0], output[1]))

    def _rows(self, site: Site, low: int, high: int) -> Iterator[Call]:
        rest = low + (high - low) // OUTPUTS * OUTPUTS
        for row in range(low, rest, OUTPUTS):
            yield from self._four(site, row)
        yield from super()._rows(site, rest, high)

    def _four(self, site: Site, row: int) -> Iterator[Call]:
        source, output, arena = site.inputs[0], site.output, site.arena
        assert isinstance(source, Window)
        assert isinstance(output, Window)
        points, taps = self._filter.points, self.columns.kernel
        length = source.pad + source.row_stride
        lines = output.row_stride
        apart = self._products_line(lines)
        products = site.scratch + self._sizes((source.pad, source.row_stride), lines)[0]
        forth = arena.floats((points, source.row_stride), (length, 1), site.scratch)
        yield bind(torch.mm, self._forth, source.flat(self.rows.first(row), points), out=forth)
        if source.pad:  # behind the last line; those behind the others came along
            behind = site.scratch + source.row_stride
            yield arena.floats((points, source.pad), (length, 1), behind).zero_

        start = source.pad + output.columns.start - self.columns.before - source.first_column
        width = len(output.columns) + (taps - 1 if self._merged else 0)
        copies = taps if self._merged else 1
        for point in range(points):
            target = arena.floats(
                (copies * self.outputs, width),
                (output.pitch, 1),
                products + point * copies * apart,
            )
            for x, left in enumerate(self._kernels[point]):
                right = arena.floats(
                    (self.inputs, width),
                    (source.pitch, 1),
                    site.scratch + point * length + start + x * self.columns.dilation,
                )
                if x == 0:
                    yield bind(torch.mm, left, right, out=target)
                else:
                    yield bind(target.addmm_, left, right)
        if self._column is not None:
            line = arena.floats(
                (self.outputs, len(output.columns)),
                (output.pitch, 1),
                products + points * copies * apart,
            )
            yield bind(line.copy_, self._column.expand(line.shape))
        used = lines - output.pad
        back = arena.floats((self._back.shape[1], used), (apart, 1), products)
        rows = arena.floats(
            (OUTPUTS, used), (output.row_stride, 1), output.position(row, output.columns.start)
        )
        yield bind(torch.mm, self._back, back, out=rows)
        if output.pad:
            yield output.margins(row, OUTPUTS).zero_
