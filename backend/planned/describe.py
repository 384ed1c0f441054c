"""A plan as a table for people, and as a map of the arena."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backend.planned.arena import FLOAT_BYTES, Item
from backend.planned.layout import Layout, StageLayout
from backend.planned.stages import Ref, Step
from backend.protocol import Region

_HEADS = ("layer", "kind", "shape", "memory", "offset", "bytes", "alive", "method")
_NUMBERS = (4, 5)


@dataclass(frozen=True, slots=True)
class _Row:
    """One thing in the arena. What it is of has no shape if it is scratch."""

    item: Item
    kind: str
    shape: tuple[int, ...]
    memory: str
    method: str
    value: int = -1

    @property
    def words(self) -> tuple[str, ...]:
        """Kind, shape, memory, method."""
        return self.kind, "x".join(map(str, self.shape)), self.memory, self.method


def describe(layout: Layout) -> str:
    """Each layer with its output, where that lies, how long it is alive, and how it is made.

    Offsets and sizes are bytes of the arena, those of windows in the first lane. Lifetimes count
    the layers in the order of execution.
    """
    rows: list[tuple[str, ...]] = [_HEADS]
    for row in _rows(layout, 0):
        kind, shape, memory, method = row.words
        rows.append((row.item.name, kind, shape, memory, *_place(row.item), method))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join((*lines, *_totals(layout)))


def regions(layout: Layout) -> list[Region]:
    """The same of all lanes, as a map of the arena."""
    found: list[Region] = []
    seen = {-1}
    for lane in range(layout.lanes):
        for row in _rows(layout, lane):
            item, whole = row.item, 0
            if row.value not in seen:
                seen.add(row.value)
                whole = _floats(row.shape) * FLOAT_BYTES
            about = ", ".join(word for word in row.words if word)
            at, size = item.offset * FLOAT_BYTES, item.floats * FLOAT_BYTES
            found.append(Region(item.name, at, size, *item.span, about, whole))
    return found


def _rows(layout: Layout, lane: int) -> Iterator[_Row]:
    """What is in a lane, and in the first one also what all lanes share."""
    made = {step.output for step in _steps(layout)}
    for value, item in layout.planes.items():
        if lane == 0 and Ref(value, plane=True) not in made:
            yield _Row(item, "input", layout.shapes[value], "plane", "as given", value)
    for number, part in enumerate(layout.stages):
        for step in (*part.stage.steps, *part.stage.whole):
            row = _output(layout, number, part, step, lane)
            if row is not None:
                yield row
            scratch = layout.scratch.get((step.time, lane))
            if scratch is not None:
                yield _Row(scratch, "", (), "scratch", "")


def _steps(layout: Layout) -> list[Step]:
    return [step for part in layout.stages for step in (*part.stage.steps, *part.stage.whole)]


def _output(layout: Layout, number: int, part: StageLayout, step: Step, lane: int) -> _Row | None:
    """None if it is not in this lane."""
    ref, operator = step.output, step.operator
    if ref.plane:
        item, memory = layout.planes[ref.value] if lane == 0 else None, "plane"
    else:
        item = layout.windows.get((number, ref, lane))
        columns = max(len(strip[ref].inner) for strip in part.strips if ref in strip)
        memory = f"{part.extents[lane][ref].rows} rows of {columns}" if item else ""
    if item is None:
        return None
    kinds = [operator.kind, *(activation.name for activation in operator.epilogue)]
    kind = " + ".join(dict.fromkeys(kinds))
    return _Row(item, kind, layout.shapes[ref.value], memory, operator.method(), ref.value)


def _place(item: Item) -> tuple[str, str, str]:
    first, last = item.span
    return f"{item.offset * FLOAT_BYTES:,}", f"{item.floats * FLOAT_BYTES:,}", f"{first}-{last}"


def _floats(shape: tuple[int, ...]) -> int:
    channels, height, width = shape
    return channels * height * width


def _totals(layout: Layout) -> tuple[str, ...]:
    values = {step.output.value for step in _steps(layout)} | set(layout.planes)
    whole = sum(_floats(layout.shapes[value]) for value in values)
    arena, least = layout.floats, layout.least_floats
    divisions = ", ".join(
        f"{part.division.strips} x {part.division.cycles}" for part in layout.stages if part.strips
    )
    return (
        f"arena: {arena * FLOAT_BYTES:,} bytes; at least {least * FLOAT_BYTES:,} are alive at once",
        f"all activations, whole: {whole * FLOAT_BYTES:,} bytes, {whole / max(1, arena):.1f} times",
        f"strips x bands of each stage: {divisions or 'none'}; lanes: {layout.lanes}",
    )
