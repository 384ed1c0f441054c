"""What two nodes of a graph can be done by one."""

from __future__ import annotations

import torch

from backend.planned.graph import Graph, Node
from backend.planned.ops.convolution import Convolution
from backend.planned.ops.depthwise import Depthwise
from backend.planned.ops.elementwise import Activate


def fuse(graph: Graph) -> None:
    """Fold normalisations into weights, then make activations epilogues.

    Both where nobody else takes what is between the two.
    """
    for node in graph.nodes.copy():
        operator = node.operator
        source = _only_source(graph, node)
        if source is None:
            continue
        if isinstance(operator, Depthwise) and operator.scales_only:
            if (
                isinstance(source.operator, Convolution | Depthwise)
                and not source.operator.epilogue
            ):
                _fold(source.operator, operator)
                _replace(graph, source, node)
        elif isinstance(operator, Activate) and source.operator.fusible:
            source.operator.epilogue += operator.epilogue
            _replace(graph, source, node)


def _only_source(graph: Graph, node: Node) -> Node | None:
    if len(node.inputs) != 1 or graph.uses(node.inputs[0]) != 1:
        return None
    return graph.producer(node.inputs[0])


def _replace(graph: Graph, source: Node, node: Node) -> None:
    source.output = node.output
    graph.nodes.remove(node)


def _fold(operator: Convolution | Depthwise, norm: Depthwise) -> None:
    scale = norm.weight.double().reshape(-1)
    bias = torch.zeros_like(scale) if norm.bias is None else norm.bias.double()
    if operator.bias is not None:
        bias = bias + operator.bias.double() * scale
    operator.bias = bias.float()
    operator.weight = (operator.weight.double() * scale.reshape(-1, 1, 1, 1)).float()
    operator.prepare()
