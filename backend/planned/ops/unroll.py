"""The kernel's columns side by side, so that a convolution becomes one of a single column."""

from __future__ import annotations

from dataclasses import dataclass

from backend.planned.ops.axis import Axis
from backend.planned.ops.base import COLUMNS, Call, Operator, Shape, Site, bind


@dataclass
class Unroll(Operator):
    """Line c * kernel + x is line c shifted by x: one copy for all rows of a band.

    For inputs of few channels, whose products would be too thin, and for horizontal strides.
    """

    columns: Axis

    kind = "Unroll"
    needs_window = True
    needs_zeros = True
    fusible = False

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        if self.columns.size(width) <= 0:
            raise self.unusable(f"makes nothing of {width}x{height} samples")
        return channels * self.columns.kernel, height, self.columns.size(width)

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        return self.columns.need(low, high) if axis == COLUMNS else (low, high)

    def method(self) -> str:
        return f"{self.columns.kernel} shifted copies"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        source, output, axis = site.inputs[0], site.output, self.columns
        shape = (high - low, source.channels, axis.kernel, len(output.columns))
        shifted = site.arena.floats(
            shape,
            (source.row_stride, source.channel_stride, axis.dilation, axis.stride),
            source.position(low, axis.first(output.columns.start)),
        )
        target = site.arena.floats(
            shape,
            (
                output.row_stride,
                axis.kernel * output.channel_stride,
                output.channel_stride,
                1,
            ),
            output.position(low, output.columns.start),
        )
        return [bind(target.copy_, shifted)]
