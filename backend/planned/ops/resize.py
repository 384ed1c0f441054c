"""Layers that change the size by a whole factor: pixel shuffle, nearest and bilinear."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import torch

from backend.planned.ops.base import ROWS, Call, Operator, Shape, Site, bind, inside
from backend.planned.places import Place


@dataclass
class Enlarge(Operator):
    """What all three share: output i lies in the block of input i // factor."""

    factors: tuple[int, int]
    """rows, columns"""

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        return channels, height * self.factors[0], width * self.factors[1]

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        factor = self.factors[axis]
        return low // factor, (high - 1) // factor + 1

    def phase(self, low: int, high: int, site: Site) -> Hashable:  # noqa: ARG002
        return low % self.factors[ROWS]

    def _interleave(
        self, site: Site, low: int, high: int
    ) -> Iterator[tuple[int, int, range, range, range, range]]:
        """For each phase: it, output rows and columns, and the input rows and columns of them."""
        tall, wide = self.factors
        columns = site.output.columns
        for i in range(tall):
            rows = inside(range(i, high, tall), low, high)
            for j in range(wide):
                across = inside(range(j, columns.stop, wide), columns.start, columns.stop)
                if rows and across:
                    from_rows = range(rows.start // tall, rows.start // tall + len(rows))
                    from_columns = range(across.start // wide, across.start // wide + len(across))
                    yield i, j, rows, across, from_rows, from_columns


@dataclass
class Nearest(Enlarge):
    """Each sample repeated."""

    kind = "Upsample nearest"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        calls: list[Call] = []
        for _, _, rows, columns, from_rows, from_columns in self._interleave(site, low, high):
            target = site.output.block(rows, columns)
            calls.append(bind(target.copy_, site.inputs[0].block(from_rows, from_columns)))
        return calls + self.finish(site, low, high)


@dataclass
class Shuffle(Enlarge):
    """Channels become rows and columns; the last rows and columns may be cut off."""

    cut: tuple[int, int] = (0, 0)

    kind = "PixelShuffle"

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        tall, wide = self.factors
        if channels % (tall * wide):
            raise self.unusable(f"can't divide {channels} channels by {tall * wide}")
        height, width = height * tall - self.cut[0], width * wide - self.cut[1]
        if height <= 0 or width <= 0:
            raise self.unusable(f"makes nothing of {inputs[0][2]}x{inputs[0][1]} samples")
        return channels // (tall * wide), height, width

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        calls: list[Call] = []
        source, area = site.inputs[0], self.factors[0] * self.factors[1]
        for i, j, rows, columns, from_rows, from_columns in self._interleave(site, low, high):
            channels = range(i * self.factors[1] + j, source.channels, area)
            target = site.output.block(rows, columns)
            calls.append(bind(target.copy_, source.block(from_rows, from_columns, channels)))
        return calls + self.finish(site, low, high)


@dataclass
class Bilinear(Enlarge):
    """Between the two nearest rows, then between the two nearest columns, edges repeated."""

    kind = "Upsample bilinear"

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:
        factor = self.factors[axis]
        first, _ = _between(low, factor)
        last, _ = _between(high - 1, factor)
        return max(0, first), min(size, last + 2)

    def phase(self, low: int, high: int, site: Site) -> Hashable:
        factor = self.factors[ROWS]
        return low % factor, low < factor, high > site.target[1] - factor

    def scratch(self, inputs: Sequence[tuple[int, int]], output: tuple[int, int]) -> int:  # noqa: ARG002
        return inputs[0][1]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        calls: list[Call] = []
        source, output = site.inputs[0], site.output
        _, height, width = site.sources[0]
        columns = range(*self.need(1, output.columns.start, output.columns.stop, width))
        mixed = Place(
            site.arena,
            channels=source.channels,
            row_stride=0,
            channel_stride=len(columns),
            offset=site.scratch,
            columns=columns,
        )
        for row in range(low, high):
            first, share = _between(row, self.factors[ROWS])
            upper, lower = max(0, first), min(height - 1, first + 1)
            ends = [source.block(range(at, at + 1), columns)[0] for at in (upper, lower)]
            calls.append(bind(torch.lerp, *ends, share, out=mixed.row(0)))
            calls += self._across(mixed, output, row, width)
        return calls + self.finish(site, low, high)

    def _across(self, mixed: Place, output: Place, row: int, width: int) -> Iterator[Call]:
        factor, columns = self.factors[1], output.columns
        for phase in range(factor):
            shift, share = _between(phase, factor)
            # Those whose both neighbours exist; the others repeat the edge.
            low, high = max(0, -shift), width - max(0, shift + 1)
            targets = inside(range(phase, width * factor, factor), columns.start, columns.stop)
            inner = inside(targets, low * factor, high * factor)
            if inner:
                first = inner.start // factor + shift
                ends = [
                    mixed.block(range(1), range(at, at + len(inner)))[0]
                    for at in (first, first + 1)
                ]
                yield bind(torch.lerp, *ends, share, out=_part(output, row, inner))
            for at in targets:
                if at not in inner:
                    edge = min(max(at // factor + shift, 0), width - 1)
                    target = _part(output, row, range(at, at + 1))
                    yield bind(target.copy_, mixed.block(range(1), range(edge, edge + 1))[0])


def _between(output: int, factor: int) -> tuple[int, float]:
    """The input before an output's place, which may be -1, and the share of the one after it."""
    place = (output + 0.5) / factor - 0.5
    return math.floor(place), place - math.floor(place)


def _part(output: Place, row: int, columns: range) -> torch.Tensor:
    return output.block(range(row, row + 1), columns)[0]
