"""A graph cut into stages, and each stage into steps between planes and windows.

Within a stage all operators run side by side down the frame, band by band, and what lies between
them are windows of a few rows. A stage ends where someone needs the whole of a value: a global
average, a linear layer. Such values, the model's input and its output are planes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.planned.graph import INPUT, Graph, Node
from backend.planned.ops.base import Operator, Shape
from backend.planned.ops.elementwise import Copy


@dataclass(frozen=True, slots=True)
class Ref:
    """A value as a step sees it: its plane, or its window in this stage."""

    value: int
    plane: bool


@dataclass(slots=True)
class Step:
    """One operator at work in a stage."""

    operator: Operator
    inputs: tuple[Ref, ...]
    output: Ref
    time: int = 0
    """its place in the order of execution, over all stages"""
    vectors: frozenset[int] = frozenset()
    """which inputs are one number per channel, however many rows the output has"""


@dataclass(slots=True)
class Stage:
    """Steps that run in bands, and then those that work on whole planes."""

    steps: list[Step] = field(default_factory=list)
    whole: list[Step] = field(default_factory=list)

    def consumers(self, ref: Ref) -> list[Step]:
        """The steps that read this along with their own rows."""
        return [
            step
            for step in self.steps
            if any(
                source == ref and index not in step.vectors
                for index, source in enumerate(step.inputs)
            )
        ]


class _Cutter:
    def __init__(self, graph: Graph, shapes: dict[int, Shape]) -> None:
        self._graph, self._shapes = graph, shapes
        self._made_by = {node.output: node for node in graph.nodes}
        self._level: dict[int, int] = {}
        for node in graph.nodes:
            self._level[node.output] = self._level_of(node)
        self.planes = self._planes()

    def vectors(self, node: Node) -> frozenset[int]:
        """Inputs of an operator in bands that are smaller than its output by broadcasting."""
        target = self._shapes[node.output]
        if len(node.inputs) == 1 or target[1:] == (1, 1):
            return frozenset()
        return frozenset(
            index for index, value in enumerate(node.inputs) if self._shapes[value][1:] == (1, 1)
        )

    def _level_of(self, node: Node) -> int:
        vectors, level = self.vectors(node), 0
        for index, value in enumerate(node.inputs):
            if value == INPUT:
                continue
            apart = node.operator.whole or index in vectors
            apart = apart or self._made_by[value].operator.whole
            level = max(level, self._level[value] + apart)
        return level

    def _planes(self) -> set[int]:
        planes = {INPUT, self._graph.output}
        for node in self._graph.nodes:
            level, vectors = self._level[node.output], self.vectors(node)
            if node.operator.whole:
                planes |= {node.output, *node.inputs}
            planes |= {
                value
                for index, value in enumerate(node.inputs)
                if index in vectors or self._level.get(value, -1) < level
            }
        return planes

    def stages(self) -> list[Stage]:
        stages = []
        time = 0
        for level in range(1 + max(self._level.values(), default=-1)):
            stage = self._stage([n for n in self._graph.nodes if self._level[n.output] == level])
            for step in (*stage.steps, *stage.whole):
                step.time = time
                time += 1
            stages.append(stage)
        return stages

    def _stage(self, nodes: list[Node]) -> Stage:
        stage = Stage()
        inside = {node.output for node in nodes if not node.operator.whole}
        loaded: set[int] = set()
        for node in nodes:
            if node.operator.whole:
                inputs = tuple(Ref(value, plane=True) for value in node.inputs)
                stage.whole.append(Step(node.operator, inputs, Ref(node.output, plane=True)))
                continue
            vectors = self.vectors(node)
            refs = []
            for index, value in enumerate(node.inputs):
                window = node.operator.needs_window and index not in vectors
                if window and value not in inside and value not in loaded:
                    loaded.add(value)
                    name = "input" if value == INPUT else self._made_by[value].operator.name
                    load = Step(Copy(name), (Ref(value, plane=True),), Ref(value, plane=False))
                    stage.steps.append(load)
                refs.append(Ref(value, plane=value not in inside and not window))
            self._add(stage, node, tuple(refs), vectors, inside)
        return stage

    def _add(
        self,
        stage: Stage,
        node: Node,
        refs: tuple[Ref, ...],
        vectors: frozenset[int],
        inside: set[int],
    ) -> None:
        value, operator = node.output, node.operator
        level = self._level[value]
        taken = any(
            value in other.inputs and self._level[other.output] == level
            for other in self._graph.nodes
            if other.output in inside
        )
        direct = value in self.planes and operator.writes_planes and not taken
        stage.steps.append(Step(operator, refs, Ref(value, plane=direct), vectors=vectors))
        if value in self.planes and not direct:
            store = Step(Copy(operator.name), (Ref(value, plane=False),), Ref(value, plane=True))
            stage.steps.append(store)


def cut(graph: Graph, shapes: dict[int, Shape]) -> tuple[list[Stage], set[int]]:
    """The stages, and the values that are planes."""
    cutter = _Cutter(graph, shapes)
    return cutter.stages(), cutter.planes
