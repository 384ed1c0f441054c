"""From a torch module to a graph of operators, through torch.fx."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

from backend.planned import layers
from backend.planned.graph import INPUT, Graph
from backend.planned.layers import LAYERS, UnsupportedLayerError
from backend.planned.ops.elementwise import FUNCTIONS, Arithmetic, Concatenate, WithConstant


def trace(module: nn.Module) -> Graph:
    """The graph of a module's forward pass, in evaluation mode, for one input of four dimensions.

    Weights are taken as they are now. Raises UnsupportedLayerError with the name of the first
    layer that no operator stands for.
    """
    if isinstance(module, torch.jit.ScriptModule):
        raise UnsupportedLayerError("", "TorchScript", "it takes an nn.Module only")
    _check_types(module)
    if type(module) in LAYERS:  # torch.fx would look into its forward
        module = nn.Sequential(module)
    try:
        traced = fx.Tracer().trace(module)
    except Exception as error:  # the module's forward may raise anything on a symbolic input
        raise UnsupportedLayerError(
            "", type(module).__name__, f"its forward depends on its input ({_first_line(error)})"
        ) from error
    graph = _Builder(module).build(traced)
    graph.prune()
    graph.fuse()
    return graph


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def _check_types(module: nn.Module) -> None:
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            raise UnsupportedLayerError(name, str(tensor.dtype), "it computes in float32 only")


class _Builder:
    """Walks the nodes of torch.fx in their order."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._graph = Graph()
        self._made: dict[fx.Node, int | torch.Tensor] = {}

    def build(self, traced: fx.Graph) -> Graph:
        """Append every node that is used."""
        for node in traced.nodes:
            if node.op == "placeholder":
                self._placeholder(node)
            elif node.op == "get_attr":
                self._made[node] = operator.attrgetter(node.target)(self._module).detach()
            elif node.op == "call_module":
                self._made[node] = self._layer(node)
            elif node.op == "output":
                self._graph.output = self._result(node)
            else:
                self._made[node] = self._call(node)
        return self._graph

    def _placeholder(self, node: fx.Node) -> None:
        if INPUT in self._made.values():
            if node.args:  # it has a default, which holds
                return
            raise UnsupportedLayerError(node.name, "input", "the model takes more than one")
        self._made[node] = INPUT

    def _result(self, node: fx.Node) -> int:
        result = node.args[0]
        if not isinstance(result, fx.Node) or not isinstance(self._made[result], int):
            raise UnsupportedLayerError(
                "", "output", "the model returns something else than a tensor"
            )
        return self._value(node, result)

    def _value(self, node: fx.Node, argument: Any) -> int:
        value = self._made.get(argument) if isinstance(argument, fx.Node) else None
        if not isinstance(value, int):
            raise UnsupportedLayerError(node.name, str(node.target), "its input isn't a frame's")
        return value

    def _layer(self, node: fx.Node) -> int:
        layer = self._module.get_submodule(str(node.target))
        build = LAYERS.get(type(layer))
        if build is None:
            raise UnsupportedLayerError(str(node.target), type(layer).__name__)
        return build(self._graph, str(node.target), layer, self._value(node, node.args[0]))

    def _call(self, node: fx.Node) -> int:
        key = node.target if node.op == "call_method" else _name(node.target)
        key = str(key).rstrip("_")
        if key in ("radd", "iadd", "rmul", "imul", "isub"):
            key = key[1:]
        if key in FUNCTIONS:
            return self._arithmetic(node, FUNCTIONS[key])
        build = _CALLS.get(key)
        if build is None:
            raise UnsupportedLayerError(node.name, str(key))
        return build(self, node)

    def _arithmetic(self, node: fx.Node, function: Callable[..., torch.Tensor]) -> int:
        if len(node.args) != 2 or node.kwargs:
            raise UnsupportedLayerError(node.name, function.__name__, "with options")
        one, other = (self._made[arg] if isinstance(arg, fx.Node) else arg for arg in node.args)
        values = [self._made[arg] for arg in node.args if isinstance(arg, fx.Node)]
        frames = [value for value in values if isinstance(value, int)]
        if len(frames) == 2:
            return self._graph.append(Arithmetic(node.name, function), *frames)
        first = not (isinstance(node.args[0], fx.Node) and isinstance(one, int))
        constant = _per_channel(node.name, function.__name__, one if first else other)
        operator_ = WithConstant(node.name, function, constant, first)
        return self._graph.append(operator_, *frames)

    def cat(self, node: fx.Node) -> int:
        """torch.cat along the channels."""
        parts = _argument(node, 0, "tensors", ())
        if _argument(node, 1, "dim", 0) not in (1, -3):
            raise UnsupportedLayerError(node.name, "cat", "along another dimension than channels")
        values = [self._value(node, part) for part in parts]
        return self._graph.append(Concatenate(node.name), *values)

    def relu(self, node: fx.Node) -> int:
        """torch.relu and its like."""
        return layers.relu(self._graph, node.name, None, self._value(node, node.args[0]))

    def sigmoid(self, node: fx.Node) -> int:
        """torch.sigmoid."""
        return layers.sigmoid(self._graph, node.name, None, self._value(node, node.args[0]))

    def tanh(self, node: fx.Node) -> int:
        """torch.tanh."""
        return layers.tanh(self._graph, node.name, None, self._value(node, node.args[0]))

    def leaky(self, node: fx.Node) -> int:
        """torch.nn.functional.leaky_relu."""
        slope = _argument(node, 1, "negative_slope", 0.01)
        return layers.leaky(self._graph, node.name, slope, self._value(node, node.args[0]))

    def clamp(self, node: fx.Node) -> int:
        """torch.clamp with numbers."""
        low, high = _argument(node, 1, "min", None), _argument(node, 2, "max", None)
        value = self._value(node, node.args[0])
        if isinstance(low, fx.Node) or isinstance(high, fx.Node):
            raise UnsupportedLayerError(node.name, "clamp", "its limits aren't numbers")
        return layers.clamp(self._graph, node.name, low, high, value)

    def flatten(self, node: fx.Node) -> int:
        """torch.flatten(x, 1)."""
        ends = _argument(node, 1, "start_dim", 0), _argument(node, 2, "end_dim", -1)
        if ends not in ((1, -1), (1, 3)):
            raise UnsupportedLayerError(node.name, "flatten", "it keeps dimensions")
        return layers.flatten(self._graph, node.name, self._value(node, node.args[0]))

    def interpolate(self, node: fx.Node) -> int:
        """torch.nn.functional.interpolate."""
        return layers.resize(
            self._graph,
            node.name,
            _argument(node, 2, "scale_factor", None),
            _argument(node, 3, "mode", "nearest"),
            _argument(node, 4, "align_corners", None),
            self._value(node, node.args[0]),
        )


_CALLS: dict[str, Callable[[_Builder, fx.Node], int]] = {
    "cat": _Builder.cat,
    "relu": _Builder.relu,
    "sigmoid": _Builder.sigmoid,
    "tanh": _Builder.tanh,
    "leaky_relu": _Builder.leaky,
    "clamp": _Builder.clamp,
    "flatten": _Builder.flatten,
    "interpolate": _Builder.interpolate,
}


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))


def _argument(node: fx.Node, position: int, name: str, default: Any) -> Any:
    return node.args[position] if len(node.args) > position else node.kwargs.get(name, default)


def _per_channel(name: str, kind: str, constant: Any) -> torch.Tensor:
    """A number, or a tensor of one number per channel, as a column."""
    if isinstance(constant, int | float) and not isinstance(constant, bool):
        return torch.full((1, 1), float(constant))
    if isinstance(constant, torch.Tensor):
        shape = (1,) * (4 - constant.dim()) + tuple(constant.shape)
        if len(shape) == 4 and shape[0] == shape[2] == shape[3] == 1:
            return constant.float().reshape(-1, 1)
    raise UnsupportedLayerError(name, kind, "its operand is no number, nor one per channel")
