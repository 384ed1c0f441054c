"""Layers that take samples at the same place: arithmetic, activations, copies, concatenation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from backend.planned.ops.base import Call, Operator, Shape, Site, bind, rowwise
from backend.planned.places import Place, Plane


@dataclass
class Copy(Operator):
    """Moves rows into a window (of the frame, of an earlier stage) or out of one."""

    kind = "copy"
    fusible = False

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        rows, columns = range(low, high), site.output.columns
        source = site.inputs[0].block(rows, columns)
        return [bind(site.output.block(rows, columns).copy_, source)]


@dataclass
class Activate(Operator):
    """Activations that could not become the epilogue of what makes their input."""

    layer: str

    def __post_init__(self) -> None:
        self.kind = self.layer

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        rows, columns = range(low, high), site.output.columns
        copied = bind(site.output.block(rows, columns).copy_, site.inputs[0].block(rows, columns))
        return [copied, *self.finish(site, low, high)]


@dataclass
class Arithmetic(Operator):
    """Two values of one shape, or one of them a number per channel."""

    function: Callable[..., torch.Tensor]

    def __post_init__(self) -> None:
        self.kind = self.function.__name__

    def shape(self, *inputs: Shape) -> Shape:
        one, other = inputs
        if one == other:
            return one
        for vector, full in ((one, other), (other, one)):
            if vector == (full[0], 1, 1):
                return full
        raise self.unusable(f"can't combine shapes {one} and {other}")

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        output, columns = site.output, site.output.columns
        vectors = [source != site.target for source in site.sources]
        places = [place for place, vector in zip(site.inputs, vectors, strict=True) if not vector]
        calls: list[Call] = []
        pieces = rowwise(low, high, output, *places)
        if any(vectors):
            pieces = [range(row, row + 1) for row in range(low, high)]
        for rows in pieces:
            target = output.block(rows, columns)
            operands = [
                _vector(place).expand(target.shape) if vector else place.block(rows, columns)
                for place, vector in zip(site.inputs, vectors, strict=True)
            ]
            calls.append(bind(self.function, *operands, out=target))
        return calls + self.finish(site, low, high)


def _vector(place: Place) -> torch.Tensor:
    assert isinstance(place, Plane)
    return place.tensor((1, place.channels, 1))


@dataclass
class WithConstant(Operator):
    """A value and a number, or a number per channel, in either order."""

    function: Callable[..., torch.Tensor]
    constant: torch.Tensor
    """[1, 1] or [channels, 1]"""
    constant_first: bool = False

    def __post_init__(self) -> None:
        self.kind = self.function.__name__

    def shape(self, *inputs: Shape) -> Shape:
        if self.constant.shape[0] not in (1, inputs[0][0]):
            raise self.unusable(
                f"combines {self.constant.shape[0]} numbers with {inputs[0][0]} channels"
            )
        return inputs[0]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        calls: list[Call] = []
        for row in range(low, high):
            target = site.output.row(row)
            samples = _row(site.inputs[0], row, site.output.columns)
            constant = self.constant.expand(target.shape)
            operands = (constant, samples) if self.constant_first else (samples, constant)
            calls.append(bind(self.function, *operands, out=target))
        return calls + self.finish(site, low, high)


def _row(place: Place, row: int, columns: range) -> torch.Tensor:
    return place.block(range(row, row + 1), columns)[0]


@dataclass
class PRelu(Operator):
    """x + (a - 1) * min(x, 0), a for each channel."""

    slopes: torch.Tensor

    kind = "PReLU"

    def __post_init__(self) -> None:
        self._less_one = (self.slopes - 1).reshape(-1, 1)
        self._zero = torch.zeros(())

    def shape(self, *inputs: Shape) -> Shape:
        if len(self.slopes) not in (1, inputs[0][0]):
            raise self.unusable(f"has {len(self.slopes)} slopes for {inputs[0][0]} channels")
        return inputs[0]

    def scratch(self, inputs: Sequence[tuple[int, int]], output: tuple[int, int]) -> int:  # noqa: ARG002
        return output[1]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        calls: list[Call] = []
        for row in range(low, high):
            target = site.output.row(row)
            samples = _row(site.inputs[0], row, site.output.columns)
            negative = site.arena.floats(tuple(target.shape), (target.shape[1], 1), site.scratch)
            calls += [
                bind(torch.minimum, samples, self._zero, out=negative),
                bind(negative.mul_, self._less_one.expand(target.shape)),
                bind(torch.add, samples, negative, out=target),
            ]
        return calls + self.finish(site, low, high)


@dataclass
class Concatenate(Operator):
    """Channels of several values, one behind the other."""

    kind = "cat"

    def shape(self, *inputs: Shape) -> Shape:
        if any(shape[1:] != inputs[0][1:] for shape in inputs):
            raise self.unusable(f"can't join shapes {', '.join(map(str, inputs))}")
        return sum(shape[0] for shape in inputs), *inputs[0][1:]

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        rows, columns = range(low, high), site.output.columns
        calls: list[Call] = []
        first = 0
        for place in site.inputs:
            channels = range(first, first + place.channels)
            target = site.output.block(rows, columns, channels)
            calls.append(bind(target.copy_, place.block(rows, columns)))
            first += place.channels
        return calls + self.finish(site, low, high)
