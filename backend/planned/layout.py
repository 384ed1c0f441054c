"""How much memory each part of a plan takes, and where in the arena it lies."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.planned.arena import Item, lower_bound, place
from backend.planned.graph import INPUT, Graph
from backend.planned.ops.base import Shape
from backend.planned.places import Window
from backend.planned.schedule import Bands, Columns, Rows, bands, columns
from backend.planned.stages import Ref, Stage, Step, cut


@dataclass(slots=True)
class Extent:
    """The rows that a window must hold at once."""

    rows: int = 0
    history: bool = False
    """whether any outlive the cycle that they were made in"""


@dataclass
class StageLayout:
    """A stage, its division, and what each of its windows needs in each lane."""

    stage: Stage
    division: Bands
    strips: list[dict[Ref, Columns]]
    extents: list[dict[Ref, Extent]]

    def lane_cycles(self, lane: int) -> tuple[int, int]:
        """The first and the last cycle but one of a lane."""
        cycles, lanes = self.division.cycles, len(self.extents)
        return cycles * lane // lanes, cycles * (lane + 1) // lanes

    def pad(self, strip: int, step: Step) -> int:
        """The columns behind each line of a window."""
        readers = (user.operator.source_margin() for user in self.stage.consumers(step.output))
        zeros = self.strips[strip][step.output].zeros
        return max(zeros, step.operator.margin(), *readers, 0)


@dataclass
class Layout:
    """All stages of a graph for one geometry, and one item for everything in the arena."""

    shapes: dict[int, Shape]
    stages: list[StageLayout]
    lanes: int
    planes: dict[int, Item] = field(default_factory=dict)
    windows: dict[tuple[int, Ref, int], Item] = field(default_factory=dict)
    """by stage, value and lane"""
    scratch: dict[tuple[int, int], Item] = field(default_factory=dict)
    """by time and lane"""
    floats: int = 0

    @property
    def items(self) -> list[Item]:
        """Everything in the arena."""
        return [*self.planes.values(), *self.windows.values(), *self.scratch.values()]

    @property
    def least_floats(self) -> int:
        """The most that is alive at once."""
        return lower_bound(self.items)


def lay_out(graph: Graph, given: Shape, lanes: int) -> Layout:
    """Sizes and places of everything, for an input of this shape. Raises UnusableError."""
    shapes = graph.shapes(given)
    stages, planes = cut(graph, shapes)
    layout = Layout(shapes, [_divide(stage, shapes, lanes) for stage in stages], lanes)
    _add_planes(layout, graph, planes)
    for number, stage in enumerate(layout.stages):
        for lane in range(lanes):
            _add_lane(layout, number, stage, lane)
    layout.floats = place(layout.items)
    return layout


def _divide(stage: Stage, shapes: dict[int, Shape], lanes: int) -> StageLayout:
    if not stage.steps:
        return StageLayout(stage, Bands(1, 1, 0), [], [{} for _ in range(lanes)])
    division = bands(stage, shapes)
    strips = [columns(stage, shapes, division.strips, strip) for strip in range(division.strips)]
    layout = StageLayout(stage, division, strips, [{} for _ in range(lanes)])
    rows = Rows(stage, shapes, division)
    for lane, extents in enumerate(layout.extents):
        for productions in rows.cycles(*layout.lane_cycles(lane)):
            for made in productions:
                extent = extents.setdefault(made.step.output, Extent())
                extent.rows = max(extent.rows, made.high - made.kept)
                extent.history |= made.kept < made.low
    return layout


def _add_planes(layout: Layout, graph: Graph, planes: set[int]) -> None:
    times: dict[int, list[tuple[int, int]]] = {value: [] for value in planes}
    for number, part in enumerate(layout.stages):
        last = max((step.time for step in part.stage.steps), default=0)
        first = min((step.time for step in part.stage.steps), default=0)
        for step in (*part.stage.steps, *part.stage.whole):
            whole = step in part.stage.whole
            for ref in (*step.inputs, step.output):
                if ref.plane:
                    # In bands, all steps of a stage are at work until its end.
                    ends = (step.time,) if whole else (first, last)
                    times[ref.value] += [(time, number) for time in ends]
    end = max((time for seen in times.values() for time, _ in seen), default=0)
    names = {node.output: node.operator.name for node in graph.nodes} | {INPUT: "input"}
    for value, seen in times.items():
        if value == INPUT:
            seen.append((0, 0))
        if value == graph.output:
            seen.append((end, max(0, len(layout.stages) - 1)))
        channels, height, width = layout.shapes[value]
        layout.planes[value] = Item(
            names[value],
            channels * height * width,
            (min(time for time, _ in seen), max(time for time, _ in seen)),
            (min(stage for _, stage in seen), max(stage for _, stage in seen)),
        )


def _add_lane(layout: Layout, number: int, part: StageLayout, lane: int) -> None:
    steps, at = part.stage.steps, (number, number)
    if not steps or part.lane_cycles(lane)[0] == part.lane_cycles(lane)[1]:
        return
    for step in steps:
        ref = step.output
        strips = [strip for strip, found in enumerate(part.strips) if ref in found]
        if not ref.plane:
            channels, extent = layout.shapes[ref.value][0], part.extents[lane][ref]
            floats = max(
                Window.floats(
                    channels, len(part.strips[strip][ref].inner), part.pad(strip, step), extent.rows
                )
                for strip in strips
            )
            zeros = any(part.strips[strip][ref].zeros for strip in strips)
            last = max(user.time for user in part.stage.consumers(ref))
            lasting = extent.history or zeros
            span = (steps[0].time, steps[-1].time) if lasting else (step.time, last)
            item = Item(step.operator.name, floats, span, at, lane)
            layout.windows[number, ref, lane] = item
        scratch = max(_scratch(layout, part, step, strip) for strip in strips)
        if scratch:
            span = (step.time, step.time)
            item = Item(f"{step.operator.name}, scratch", scratch, span, at, lane)
            layout.scratch[step.time, lane] = item


def _scratch(layout: Layout, part: StageLayout, step: Step, strip: int) -> int:
    """What a step needs of its own, given (pad, floats of a row) of its inputs and output."""
    makers = {other.output: other for other in part.stage.steps}

    def row(ref: Ref) -> tuple[int, int]:
        channels, _, width = layout.shapes[ref.value]
        if ref.plane:
            return 0, channels * width
        pad = part.pad(strip, makers[ref])
        return pad, channels * (len(part.strips[strip][ref].inner) + pad)

    return step.operator.scratch([row(ref) for ref in step.inputs], row(step.output))
