"""Which rows and columns of every value are made when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backend.planned.ops.base import COLUMNS, ROWS, Shape
from backend.planned.stages import Ref, Stage, Step

STRIP = 640
"""columns of the widest window, at most"""
_LEAST_ROWS = 12
_MOST_ROWS = 48


@dataclass(frozen=True, slots=True)
class Bands:
    """How a stage is divided: strips of columns, and each into bands of rows, one per cycle."""

    rows: int
    height: int
    """of the tallest window, which the rows are counted in"""
    strips: int

    @property
    def cycles(self) -> int:
        """How many bands from top to bottom."""
        return -(-self.height // self.rows)

    def bound(self, size: int, cycle: int) -> int:
        """The row of a value of this height at which a band begins."""
        return size if cycle == self.cycles else cycle * self.rows * size // self.height


def bands(stage: Stage, shapes: dict[int, Shape]) -> Bands:
    """Bands of some thousand columns, whose operands stay in a core's cache.

    Two times the six outputs of a minimal filter; and one time in the smallest window.
    """
    windows = [shapes[step.output.value] for step in stage.steps if not step.output.plane]
    windows = windows or [shapes[step.output.value] for step in stage.steps]
    height = max(shape[1] for shape in windows)
    width = max(shape[2] for shape in windows)
    scale = round(height / min(shape[1] for shape in windows))
    rows = min(max(_LEAST_ROWS, 6 * scale), _MOST_ROWS)
    return Bands(rows, height, -(-width // STRIP))


@dataclass(slots=True)
class Columns:
    """The columns of a window in one strip, and how many zeros it has beside them."""

    inner: range
    zeros: int


def columns(stage: Stage, shapes: dict[int, Shape], strips: int, strip: int) -> dict[Ref, Columns]:
    """The columns of everything that the stage makes, for one strip."""
    wanted: dict[Ref, tuple[int, int]] = {}
    found: dict[Ref, Columns] = {}
    for step in reversed(stage.steps):
        size = shapes[step.output.value][2]
        if step.output.plane:
            low, high = size * strip // strips, size * (strip + 1) // strips
        else:
            low, high = wanted.get(step.output, (0, 0))
        if low >= high:  # nobody needs any in this strip
            continue
        first = min(max(low, 0), size - 1)
        inner = range(first, max(first + 1, min(high, size)))
        found[step.output] = Columns(inner, max(0, -low, high - size))
        for index, source in enumerate(step.inputs):
            if source.plane or index in step.vectors:
                continue
            width = shapes[source.value][2]
            low, high = step.operator.need(COLUMNS, inner.start, inner.stop, width)
            before = wanted.get(source, (low, high))
            wanted[source] = min(low, before[0]), max(high, before[1])
    return found


@dataclass(slots=True)
class Production:
    """One step's rows in one cycle; those beyond the frame are zeros."""

    step: Step
    low: int
    high: int
    kept: int
    """the first row that is still needed of what the step makes"""


class Rows:
    """The rows of all values in one lane, cycle by cycle."""

    def __init__(self, stage: Stage, shapes: dict[int, Shape], division: Bands) -> None:
        self._stage = stage
        self._shapes = shapes
        self._division = division
        self._consumers = {step.output: stage.consumers(step.output) for step in stage.steps}

    def cycles(self, first: int, stop: int) -> Iterator[list[Production]]:
        """From cycle `first` up to `stop`: the productions of each, in order."""
        made: dict[Ref, int] = {}
        for cycle in range(first, stop):
            if cycle == first:
                made = self._starts(cycle)
            wanted = self._wanted(cycle, made)
            productions = []
            for step in self._stage.steps:
                ref = step.output
                low, high = made[ref], max(made[ref], wanted.get(ref, made[ref]))
                productions.append(Production(step, low, high, self._kept(ref, made)))
            for production in productions:
                made[production.step.output] = production.high
            yield productions

    def _starts(self, cycle: int) -> dict[Ref, int]:
        """The first row of each value that any output of this and later cycles needs."""
        starts: dict[Ref, int] = {}
        for step in reversed(self._stage.steps):
            ref = step.output
            target = self._shapes[ref.value][1]
            if ref.plane:
                starts[ref] = self._division.bound(target, cycle)
            low = max(0, starts[ref])
            for source in self._windows(step):
                height = self._shapes[source.value][1]
                need = step.operator.keep(low, height, target)
                if low < target:
                    need = step.operator.need(ROWS, low, low + 1, height)[0]
                    need = min(need, step.operator.keep(low, height, target))
                starts[source] = min(need, starts.get(source, need))
        return starts

    def _wanted(self, cycle: int, made: dict[Ref, int]) -> dict[Ref, int]:
        """Up to which row each value must be made in this cycle."""
        wanted: dict[Ref, int] = {}
        for step in reversed(self._stage.steps):
            ref = step.output
            size = self._shapes[ref.value][1]
            if ref.plane:
                wanted[ref] = self._division.bound(size, cycle + 1)
            low, high = max(0, made[ref]), min(size, wanted.get(ref, made[ref]))
            if low >= high:
                continue
            for source in self._windows(step):
                _, stop = step.operator.need(ROWS, low, high, self._shapes[source.value][1])
                wanted[source] = max(stop, wanted.get(source, stop))
        return wanted

    def _kept(self, ref: Ref, made: dict[Ref, int]) -> int:
        if ref.plane:
            return made[ref]
        size = self._shapes[ref.value][1]
        kept = made[ref]
        for step in self._consumers[ref]:
            target = self._shapes[step.output.value][1]
            low = max(0, made[step.output])
            if low < target:
                kept = min(kept, step.operator.keep(low, size, target))
        return kept

    @staticmethod
    def _windows(step: Step) -> list[Ref]:
        return [
            source
            for index, source in enumerate(step.inputs)
            if not source.plane and index not in step.vectors
        ]
