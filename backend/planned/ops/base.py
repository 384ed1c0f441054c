"""What every layer of a plan can say of itself."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import torch

from backend.errors import UnusableError
from backend.planned.arena import Arena
from backend.planned.places import Place

Shape: TypeAlias = tuple[int, int, int]
"""channels, height, width"""
Call: TypeAlias = Callable[[], object]
"""a torch operator with all its operands bound: it makes no malloc"""

ROWS, COLUMNS = 0, 1


@dataclass(slots=True)
class Site:
    """Where one layer works in one strip of the frame."""

    arena: Arena
    inputs: list[Place]
    output: Place
    sources: list[Shape]
    """whole shapes of the inputs"""
    target: Shape
    scratch: int = 0
    """offset of the layer's own memory, in floats"""


@dataclass
class Activation:
    """A function of each sample, done in place."""

    name: str
    bind: Callable[[torch.Tensor], Call]


@dataclass
class Operator:
    """One layer: its shape, the input it needs for a part of its output, and its calls.

    Coordinates are rows or columns of the whole frame. A layer that asks for some outside of its
    input gets zeros there.
    """

    name: str
    """as the module's author named the layer"""
    epilogue: list[Activation] = field(default_factory=list, kw_only=True)
    """what is done to each part of the output as soon as it is there"""

    kind = ""
    whole = False
    """whether it takes and makes whole planes, outside of the bands"""
    needs_window = False
    """whether it can read a window only"""
    needs_zeros = False
    """whether it reads zeros beyond the frame"""
    writes_planes = True
    """whether it can write to a plane too"""
    fusible = True
    """whether an activation behind it can be its epilogue"""

    def shape(self, *inputs: Shape) -> Shape:
        """The output's shape. Raises UnusableError if these inputs don't fit."""
        raise NotImplementedError

    def need(self, axis: int, low: int, high: int, size: int) -> tuple[int, int]:  # noqa: ARG002
        """The part of an input of this size that outputs from low up to high are made of."""
        return low, high

    def keep(self, low: int, size: int, target: int) -> int:
        """The first input row that outputs from row `low` on still need."""
        return size if low >= target else self.need(ROWS, low, low + 1, size)[0]

    def phase(self, low: int, high: int, site: Site) -> Hashable:  # noqa: ARG002
        """What makes the calls for these rows differ from those for others at the same places."""
        return None

    def margin(self) -> int:
        """Spare columns that it wants behind each line of its output."""
        return 0

    def source_margin(self) -> int:
        """Spare columns that it wants behind each line of its input."""
        return 0

    def scratch(self, inputs: Sequence[tuple[int, int]], output: tuple[int, int]) -> int:  # noqa: ARG002
        """Floats of memory of its own; given are (channels, pitch) of inputs and output."""
        return 0

    def method(self) -> str:
        """How it is done, for people."""
        return "in bands"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        """The calls that make the output's rows from low up to high."""
        raise NotImplementedError

    def finish(self, site: Site, low: int, high: int) -> list[Call]:
        """The calls of the epilogue for these rows."""
        if not self.epilogue:
            return []
        block = site.output.block(range(low, high), site.output.columns)
        return [activation.bind(block) for activation in self.epilogue]

    def unusable(self, what: str) -> UnusableError:
        """An error that names the layer."""
        return UnusableError(f"layer {self.name!r} ({self.kind}) {what}")


bind = functools.partial


def rowwise(low: int, high: int, *places: Place) -> list[range]:
    """The rows in pieces that an operator with three operands can take without a malloc.

    torch keeps the strides of such an operator in place for two dimensions (eight numbers in all);
    beyond that it asks for memory. Rows of which all places make one matrix count as one.
    """
    if all(place.coalesces for place in places):
        return [range(low, high)]
    return [range(row, row + 1) for row in range(low, high)]


def inside(wanted: range, first: int, stop: int) -> range:
    """The part of an ascending range with steps that lies from first up to stop."""
    start = wanted.start + max(0, -(-(first - wanted.start) // wanted.step)) * wanted.step
    return range(start, max(start, min(wanted.stop, stop)), wanted.step)
