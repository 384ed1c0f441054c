"""What a model becomes: operators in the order of execution, and the values between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.planned.ops.base import Operator, Shape

INPUT = 0


class Value(int):
    """The number of a value, told from a number that a model computes with."""


@dataclass
class Node:
    """An operator, the values it takes and the one it makes."""

    operator: Operator
    inputs: tuple[int, ...]
    output: int


@dataclass
class Graph:
    """Values are numbered; number 0 is the model's input."""

    nodes: list[Node] = field(default_factory=list)
    output: int = INPUT
    flat: set[int] = field(default_factory=set)
    """values that torch would give two dimensions, not four"""
    values: int = 1

    def append(self, operator: Operator, *inputs: int) -> int:
        """Add an operator at the end; the value it makes."""
        self.nodes.append(Node(operator, inputs, self.values))
        if self.flat.intersection(inputs):
            self.flat.add(self.values)
        self.values += 1
        return self.values - 1

    def shapes(self, given: Shape) -> dict[int, Shape]:
        """The shape of every value, for an input of this one. Raises UnusableError."""
        shapes = {INPUT: given}
        for node in self.nodes:
            shapes[node.output] = node.operator.shape(*(shapes[value] for value in node.inputs))
        return shapes

    def uses(self, value: int) -> int:
        """How often a value is taken, by operators or as the result."""
        taken = sum(node.inputs.count(value) for node in self.nodes)
        return taken + (value == self.output)

    def producer(self, value: int) -> Node | None:
        """The node that makes a value."""
        return next((node for node in self.nodes if node.output == value), None)

    def prune(self) -> None:
        """Drop nodes whose result nobody takes."""
        for node in reversed(self.nodes.copy()):
            if not self.uses(node.output):
                self.nodes.remove(node)
