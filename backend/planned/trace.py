"""From a torch module to a graph of operators: its forward pass, run once on a symbol.

The layers that are known are called by a stand-in for the time of the trace, which appends their
operators; all other forwards run as they are. torch.fx does the same and more, but leaves reference
cycles that hold the module until the garbage collector runs.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from backend.planned.calls import CALLS
from backend.planned.fusing import fuse
from backend.planned.graph import INPUT, Graph, Value
from backend.planned.layers import LAYERS, UnsupportedLayerError


class Symbol:
    """Stands for a tensor while a model is traced. What is done to it is appended to the graph."""

    __slots__ = ("graph", "value")

    def __init__(self, graph: Graph, value: int) -> None:
        self.graph = graph
        self.value = value

    @classmethod
    def __torch_function__(
        cls,
        function: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Symbol:
        symbols = (*args, *(args[0] if args and isinstance(args[0], tuple | list) else ()))
        graph = next(symbol.graph for symbol in symbols if isinstance(symbol, Symbol))
        return _call(graph, getattr(function, "__name__", str(function)), args, kwargs or {})

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("__") or name not in CALLS:
            raise AttributeError(f"it asks for .{name}")

        def method(*args: Any, **kwargs: Any) -> Symbol:
            return _call(self.graph, name, (self, *args), kwargs)

        return method

    def __add__(self, other: Any) -> Symbol:
        return _call(self.graph, "add", (self, other), {})

    def __radd__(self, other: Any) -> Symbol:
        return _call(self.graph, "add", (other, self), {})

    def __sub__(self, other: Any) -> Symbol:
        return _call(self.graph, "sub", (self, other), {})

    def __rsub__(self, other: Any) -> Symbol:
        return _call(self.graph, "sub", (other, self), {})

    def __mul__(self, other: Any) -> Symbol:
        return _call(self.graph, "mul", (self, other), {})

    def __rmul__(self, other: Any) -> Symbol:
        return _call(self.graph, "mul", (other, self), {})


def _call(graph: Graph, name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Symbol:
    name = name.strip("_")
    # Tensor.__rsub__(tensor, symbol) is symbol - tensor; as functions torch has rsub alone.
    if name in ("radd", "rsub", "rmul"):
        name, args = name[1:], tuple(reversed(args))
    build = CALLS.get(name)
    if build is None:
        raise UnsupportedLayerError(name, "function")
    given = [_value(argument) for argument in args]
    return Symbol(graph, build(graph, *given, **kwargs))


def _value(argument: Any) -> Any:
    if isinstance(argument, Symbol):
        return Value(argument.value)
    if isinstance(argument, tuple | list):
        return [_value(one) for one in argument]
    return argument


def trace(module: nn.Module) -> Graph:
    """The graph of a module's forward pass, in evaluation mode, for one input of four dimensions.

    Weights are taken as they are now. Raises UnsupportedLayerError with the name of the first
    layer that no operator stands for.
    """
    if isinstance(module, torch.jit.ScriptModule):
        raise UnsupportedLayerError("(all)", "TorchScript", "it takes an nn.Module")
    _check_types(module)
    graph = Graph()
    with torch.no_grad(), _unchanged(module), _stand_ins(module, graph):
        result = _run(module, Symbol(graph, INPUT))
    if not isinstance(result, Symbol):
        raise UnsupportedLayerError("(output)", type(result).__name__, "it is no tensor")
    graph.output = result.value
    graph.prune()
    fuse(graph)
    return graph


def _run(module: nn.Module, symbol: Symbol) -> Any:
    try:
        return module(symbol)
    except UnsupportedLayerError:
        raise
    except Exception as error:  # the module's forward may raise anything on a symbol
        reason = (str(error).strip() or type(error).__name__).split("\n")[0]
        kind = type(module).__name__
        raise UnsupportedLayerError(
            "(forward)", kind, f"it does more than layers: {reason}"
        ) from None


def _check_types(module: nn.Module) -> None:
    for name, tensor in (*module.named_parameters(), *module.named_buffers()):
        if tensor.is_floating_point() and tensor.dtype != torch.float32:
            raise UnsupportedLayerError(name, str(tensor.dtype), "it computes in float32")


@contextlib.contextmanager
def _unchanged(module: nn.Module) -> Iterator[None]:
    """Put back what the forward changes; and refuse a module that does, as it keeps a state."""
    before = [(part, dict(vars(part)), dict(part._buffers)) for part in module.modules()]
    changed: list[nn.Module] = []
    try:
        yield
    finally:
        for part, attributes, buffers in before:
            if _differ(vars(part), attributes) or _differ(part._buffers, buffers):
                changed.append(part)
                vars(part).clear()
                vars(part).update(attributes)
                part._buffers.clear()
                part._buffers.update(buffers)
    if changed:
        raise UnsupportedLayerError("(forward)", type(changed[0]).__name__, "it keeps a state")


def _differ(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() != before.keys() or any(now[key] is not before[key] for key in now)


@contextlib.contextmanager
def _stand_ins(module: nn.Module, graph: Graph) -> Iterator[None]:
    """Let all layers of torch's own append themselves to the graph instead of computing."""
    # A module that is used twice has one stand-in, under its first name.
    standing: list[nn.Module] = []
    try:
        for name, layer in module.named_modules():
            if type(layer) in LAYERS:
                stand_in = functools.partial(_append, graph, name, layer)
            elif _is_torch_layer(layer):
                stand_in = functools.partial(_refuse, name, type(layer).__name__)
            else:
                continue
            layer.__dict__["forward"] = stand_in
            standing.append(layer)
        yield
    finally:
        for layer in standing:
            del layer.__dict__["forward"]


def _is_torch_layer(layer: nn.Module) -> bool:
    return type(layer).__module__.startswith("torch.nn.") and not any(layer.children())


def _append(graph: Graph, name: str, layer: nn.Module, symbol: Any) -> Symbol:
    if not isinstance(symbol, Symbol):
        raise UnsupportedLayerError(name, type(layer).__name__, "its input is a constant")
    return Symbol(graph, LAYERS[type(layer)](graph, name, layer, symbol.value))


def _refuse(name: str, kind: str, *args: Any, **kwargs: Any) -> Symbol:  # noqa: ARG001
    raise UnsupportedLayerError(name, kind)
