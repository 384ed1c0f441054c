"""Convolution with 3 or 5 kernel rows by Winograd's minimal filters: half the products or fewer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from backend.planned.ops.base import Call, Site, bind
from backend.planned.ops.convolution import Convolution
from backend.planned.ops.winograd import minimal_filter
from backend.planned.places import Window

OUTPUTS = {3: (6, 2), 5: (4, 2)}
"""By kernel rows: how many rows of outputs are made at once, and how many of what is left over.

F(6, 3) has 8 products where 18 are taken directly, F(4, 5) has 8 for 20."""
_FEW_LINES = 24
"""Up to so many lines the kernel's columns are merged: measured."""


class Variant:
    """A filter F(outputs, taps) with its weights."""

    __slots__ = ("back", "back_merged", "forth", "kernels", "outputs", "points")

    def __init__(self, outputs: int, weight: torch.Tensor, *, bias: bool) -> None:
        """`weight` is [outputs, inputs, rows, columns]."""
        lines, inputs, taps, columns = weight.shape
        found = minimal_filter(outputs, taps)
        self.outputs, self.points, self.forth = outputs, found.points, found.forth
        kernel = torch.einsum("tr,oirx->txoi", found.kernel, weight.double())
        self.kernels = kernel.float().reshape(found.points, columns * lines, inputs).contiguous()
        """for each point, the lines of all columns of the kernel"""
        # One more line of products is the bias, which every row gets once.
        ones = torch.ones(outputs, int(bias))
        merged = found.back.repeat_interleave(columns, dim=1)
        self.back = torch.cat([found.back, ones], dim=1)
        self.back_merged = torch.cat([merged, ones], dim=1)


@dataclass
class MinimalConvolution(Convolution):
    """Several rows of outputs at once; what is left at the ends of a frame by direct products.

    The kernel's columns are taken one after the other, each product added to the last; or merged:
    one product makes the lines of all of them, and the transform back adds them up, reading each
    line one sample further to the right. (The distance of lines there is one sample more than they
    take, so that the shift is a part of the stride.) That is fewer and larger products, and better
    as long as the lines are few.
    """

    writes_planes = False

    def prepare(self) -> None:
        super().prepare()
        assert self._merges_rows
        assert self.rows.stride == 1
        bias = self.bias is not None
        self._variants = [
            Variant(outputs, self.weight, bias=bias) for outputs in OUTPUTS[self.rows.kernel]
        ]

    def method(self) -> str:
        outputs = self._variants[0].outputs
        kernel = f"{self.rows.kernel}x{self.columns.kernel}"
        return f"{kernel}: minimal filter F({outputs}, {self.rows.kernel})"

    def margin(self) -> int:
        return self.columns.kernel - 1 if self.columns.dilation == 1 else 0

    def source_margin(self) -> int:
        return max(super().source_margin(), self.margin()) + self.margin()

    @property
    def _merges(self) -> bool:
        return self.margin() > 0 and self.outputs * self.columns.kernel <= _FEW_LINES

    def scratch(self, inputs: Sequence[tuple[int, int]], output: tuple[int, int]) -> int:
        variant, lines = self._variants[0], output[1]
        taps = self.columns.kernel if self._merges else 1
        products = (variant.points * taps + 1) * (lines + 1)
        return variant.points * sum(inputs[0]) + products

    def _rows(self, site: Site, low: int, high: int) -> Iterator[Call]:
        row = low
        for variant in self._variants:
            while row + variant.outputs <= high:
                yield from self._group(site, variant, row)
                row += variant.outputs
        yield from super()._rows(site, row, high)

    def _group(self, site: Site, variant: Variant, row: int) -> Iterator[Call]:
        source, output, arena = site.inputs[0], site.output, site.arena
        assert isinstance(source, Window)
        assert isinstance(output, Window)
        length = source.pad + source.row_stride
        forth = arena.floats((variant.points, source.row_stride), (length, 1), site.scratch)
        samples = source.flat(self.rows.first(row), variant.points)
        yield bind(torch.mm, variant.forth, samples, out=forth)
        if source.pad:  # behind the last line; those behind the others came along
            behind = site.scratch + source.row_stride
            yield arena.floats((variant.points, source.pad), (length, 1), behind).zero_
        products = site.scratch + variant.points * length
        yield from self._products_of(site, variant, products)
        yield from self._back(site, variant, row, products)

    def _products_of(self, site: Site, variant: Variant, products: int) -> Iterator[Call]:
        """Weights times the transformed rows, for each point."""
        source, output, arena = site.inputs[0], site.output, site.arena
        assert isinstance(source, Window)
        assert isinstance(output, Window)
        taps, width = self.columns.kernel, len(output.columns)
        length = source.pad + source.row_stride
        start = site.scratch + source.pad + output.columns.start - source.first_column
        start -= self.columns.before
        for point in range(variant.points):
            at = start + point * length
            kernels = variant.kernels[point]
            if self._merges:
                wide = width + taps - 1
                first = products + point * taps * (output.row_stride + 1)
                target = arena.floats((taps * self.outputs, wide), (output.pitch, 1), first)
                right = arena.floats((self.inputs, wide), (source.pitch, 1), at)
                yield bind(torch.mm, kernels, right, out=target)
                continue
            first = products + point * output.row_stride
            target = arena.floats((self.outputs, width), (output.pitch, 1), first)
            for x, left in enumerate(kernels.split(self.outputs)):
                shifted = at + x * self.columns.dilation
                right = arena.floats((self.inputs, width), (source.pitch, 1), shifted)
                if x == 0:
                    yield bind(torch.mm, left, right, out=target)
                else:
                    yield bind(target.addmm_, left, right)

    def _back(self, site: Site, variant: Variant, row: int, products: int) -> Iterator[Call]:
        """The products to rows of outputs, with the bias."""
        output, arena = site.output, site.arena
        assert isinstance(output, Window)
        back = variant.back_merged if self._merges else variant.back
        apart, lines = output.row_stride + self._merges, back.shape[1]
        if self._column is not None:
            bias = arena.floats(
                (self.outputs, len(output.columns)),
                (output.pitch, 1),
                products + (lines - 1) * apart,
            )
            yield bind(bias.copy_, self._column.expand(bias.shape))
        used = output.row_stride - output.pad
        target = arena.floats(
            (variant.outputs, used),
            (output.row_stride, 1),
            output.position(row, output.first_column),
        )
        yield bind(torch.mm, back, arena.floats((lines, used), (apart, 1), products), out=target)
        if output.pad:
            yield output.margins(row, variant.outputs).zero_
