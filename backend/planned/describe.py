"""A plan as a table for people."""

from __future__ import annotations

from backend.planned.arena import FLOAT_BYTES, Item
from backend.planned.layout import Layout, StageLayout
from backend.planned.stages import Ref, Step

_HEADS = ("layer", "kind", "shape", "memory", "offset", "bytes", "alive", "method")
_NUMBERS = (4, 5)


def describe(layout: Layout) -> str:
    """Each layer with its output, where that lies, how long it is alive, and how it is made.

    Offsets and sizes are bytes of the arena, those of windows in the first lane. Lifetimes count
    the layers in the order of execution.
    """
    rows: list[tuple[str, ...]] = [_HEADS]
    for value, item in layout.planes.items():
        if not any(step.output == Ref(value, plane=True) for step in _steps(layout)):
            shape = "x".join(map(str, layout.shapes[value]))
            rows.append((item.name, "input", shape, "plane", *_place(item), "as given"))
    for number, part in enumerate(layout.stages):
        for step in (*part.stage.steps, *part.stage.whole):
            rows.append(_row(layout, number, part, step))
            scratch = layout.scratch.get((step.time, 0))
            if scratch is not None:
                rows.append((scratch.name, "", "", "scratch", *_place(scratch), ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in _NUMBERS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join((*lines, *_totals(layout)))


def _steps(layout: Layout) -> list[Step]:
    return [step for part in layout.stages for step in (*part.stage.steps, *part.stage.whole)]


def _row(layout: Layout, number: int, part: StageLayout, step: Step) -> tuple[str, ...]:
    ref, operator = step.output, step.operator
    if ref.plane:
        item, memory = layout.planes[ref.value], "plane"
    else:
        item = layout.windows[number, ref, 0]
        columns = max(len(strip[ref].inner) for strip in part.strips if ref in strip)
        memory = f"{part.extents[0][ref].rows} rows of {columns}"
    kinds = [operator.kind, *(activation.name for activation in operator.epilogue)]
    shape = "x".join(map(str, layout.shapes[ref.value]))
    kind = " + ".join(dict.fromkeys(kinds))
    return operator.name, kind, shape, memory, *_place(item), operator.method()


def _place(item: Item) -> tuple[str, str, str]:
    first, last = item.span
    return f"{item.offset * FLOAT_BYTES:,}", f"{item.floats * FLOAT_BYTES:,}", f"{first}-{last}"


def _totals(layout: Layout) -> tuple[str, ...]:
    values = {step.output.value for step in _steps(layout)} | set(layout.planes)
    whole = 0
    for value in values:
        channels, height, width = layout.shapes[value]
        whole += channels * height * width
    arena, least = layout.floats, layout.least_floats
    divisions = ", ".join(
        f"{part.division.strips} x {part.division.cycles}" for part in layout.stages if part.strips
    )
    return (
        f"arena: {arena * FLOAT_BYTES:,} bytes; at least {least * FLOAT_BYTES:,} are alive at once",
        f"all activations, whole: {whole * FLOAT_BYTES:,} bytes, {whole / max(1, arena):.1f} times",
        f"strips x bands of each stage: {divisions or 'none'}; lanes: {layout.lanes}",
    )
