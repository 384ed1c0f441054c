"""Padding as a layer of its own."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from backend.planned.ops.base import ROWS, Call, Operator, Shape, Site, bind


@dataclass
class ZeroPad(Operator):
    """Zeros around: a copy of a window with the zeros that it has beyond the frame."""

    before: tuple[int, int]
    """rows above, columns to the left"""
    after: tuple[int, int]

    kind = "ZeroPad2d"
    needs_window = True
    needs_zeros = True

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        height += self.before[0] + self.after[0]
        return channels, height, width + self.before[1] + self.after[1]

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        return low - self.before[axis], high - self.before[axis]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        output, columns = site.output, site.output.columns
        above, left = self.before
        samples = site.inputs[0].block(
            range(low - above, high - above), range(columns.start - left, columns.stop - left)
        )
        copied = bind(output.block(range(low, high), columns).copy_, samples)
        return [copied, *self.finish(site, low, high)]


@dataclass
class ReflectionPad(Operator):
    """The frame mirrored at its edges: rows copied one by one, mirrored columns too."""

    before: tuple[int, int]
    after: tuple[int, int]

    kind = "ReflectionPad2d"

    def shape(self, *inputs: Shape) -> Shape:
        channels, *sizes = inputs[0]
        for size, before, after in zip(sizes, self.before, self.after, strict=True):
            if max(before, after) >= size:
                raise self.unusable(f"can't mirror {max(before, after)} of {size} samples")
        height, width = (
            size + before + after
            for size, before, after in zip(sizes, self.before, self.after, strict=True)
        )
        return channels, height, width

    def _source(self, axis: int, at: int, size: int) -> int:
        """The input that is shown at an output."""
        at = abs(at - self.before[axis])
        return at if at < size else 2 * (size - 1) - at

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:
        sources = [self._source(axis, at, size) for at in range(low, high)]
        return min(sources), max(sources) + 1

    def keep(self, low: int, size: int, target: int) -> int:
        return size if low >= target else self.need(ROWS, low, target, size)[0]

    def phase(self, low: int, high: int, site: Site) -> Hashable:
        height = site.sources[0][1]
        first = self._source(ROWS, low, height)
        return tuple(self._source(ROWS, at, height) - first for at in range(low, high))

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        source, output, columns = site.inputs[0], site.output, site.output.columns
        _, height, width = site.sources[0]
        left = self.before[1]
        inner = range(max(columns.start, left), min(columns.stop, left + width))
        pieces = [
            (range(at, at + 1), range(mirrored, mirrored + 1))
            for at in columns
            if at not in inner
            for mirrored in [self._source(1, at, width)]
        ]
        if inner:
            pieces.append((inner, range(inner.start - left, inner.stop - left)))
        calls: list[Call] = []
        for row in range(low, high):
            line = self._source(ROWS, row, height)
            for targets, samples in pieces:
                target = output.block(range(row, row + 1), targets)
                calls.append(bind(target.copy_, source.block(range(line, line + 1), samples)))
        return calls + self.finish(site, low, high)
