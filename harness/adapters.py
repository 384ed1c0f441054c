"""Backends of other shapes behind the protocol: what a function of a frame can't do by itself.

What these allocate is the harness's; what they call is whose it was.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import warnings
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Mapping
from types import CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any, Protocol

from harness.digest import NoneReturned
from harness.errors import UsageError
from harness.names import METHODS
from harness.source import as_tensor

if TYPE_CHECKING:
    import torch

    from backend.frame import Frame
    from backend.protocol import Backend, FrameFunction

_NONE_RETURNED = NoneReturned()
_ENDED = object()
"""what a generator gives that has come to its end"""


class FunctionBackend:
    """A plain callable, frame -> result, behind the backend protocol.

    A generator function's results for a frame are one result, a list: any number of them, none
    included. A coroutine function runs on an event loop of the backend's own.
    """

    def __init__(self, function: FrameFunction) -> None:
        self._function: FrameFunction | None = function
        self._results: deque[Any] = deque()
        self._loop: _Loop | None = None

    def execute(self, frame: Frame) -> None:
        """Call the function."""
        assert self._function is not None, "execute after close"
        result = self._function(frame)
        if isinstance(result, GeneratorType):
            result = list(result)
        elif isinstance(result, CoroutineType):
            self._loop = self._loop or _Loop()
            result = self._loop.run(result)
        self._results.append(_NONE_RETURNED if result is None else result)

    def get_result(self) -> Any | None:
        """Return the oldest result that was not yet collected."""
        return self._results.popleft() if self._results else None

    def flush(self) -> None:
        """Nothing is ever in flight."""

    def close(self) -> None:
        """Close the function too, if it can be closed."""
        function, self._function = self._function, None
        self._results.clear()
        if close := getattr(function, "close", None):
            closing = close()
            if isinstance(closing, CoroutineType):
                self._loop = self._loop or _Loop()
                self._loop.run(closing)
        if self._loop is not None:
            self._loop.close()
            self._loop = None


class _Loop:
    """An event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """What the coroutine returns. Raises what it raises."""
        result, error = self._loop.run_until_complete(_caught(coroutine))
        if error is None:
            return result
        try:
            # Raised through the loop, it would be part of a reference cycle with the loop's frames.
            raise error
        finally:
            del error

    def close(self) -> None:
        """End what still runs on it."""
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


async def _caught(
    coroutine: Coroutine[Any, Any, Any],
) -> tuple[Any, BaseException | None]:
    try:
        return await coroutine, None
    except BaseException as error:
        return None, error


class Named:
    """An object whose methods have other names.

    Without `get_result`, what `execute` returns is the result. Without `flush`, nothing is held
    back; without `close`, there is nothing to close.
    """

    def __init__(self, made: Any, names: Mapping[str, str]) -> None:
        """Raises UsageError if it has no method of a name that was given, or none to execute."""
        for method, name in names.items():
            if not callable(getattr(made, name, None)):
                raise UsageError(
                    f"--map {method}={name}: a {type(made).__name__} has no method {name!r}"
                )
        self._made = made
        execute, get_result, flush, close = (
            getattr(made, names.get(method, method), None) for method in METHODS
        )
        if execute is None:
            raise UsageError(
                f"a {type(made).__name__} has no method 'execute': --map execute=NAME names its own"
            )
        self.execute: Callable[[Any], Any] = execute
        self.get_result: Callable[[], Any] | None = get_result
        self.flush: Callable[[], Any] = flush or _do_nothing
        self.close: Callable[[], Any] = close or _do_nothing
        _pass_on(made, self)

    def __call__(self, frame: Frame) -> Any:
        """As a function of a frame, of which it has no more than `close`."""
        return self.execute(frame)


def _do_nothing() -> None:
    pass


def _pass_on(made: Any, adapter: Any) -> None:
    """Give an adapter what the protocol leaves to the backend to have."""
    for name in ("nireq", "memory_map"):
        if hasattr(made, name):
            setattr(adapter, name, getattr(made, name))


class AsyncBackend:
    """The four methods as coroutine functions, on an event loop of the backend's own.

    Tasks that they leave behind run on while a later one is awaited.
    """

    def __init__(self, made: Any) -> None:
        self._made = made
        self._loop = _Loop()
        if hasattr(made, "nireq"):
            self.nireq = made.nireq

    def execute(self, frame: Frame) -> None:
        """Await its `execute`."""
        self._run(self._made.execute(frame))

    def get_result(self) -> Any | None:
        """Await its `get_result`."""
        return self._run(self._made.get_result())

    def flush(self) -> None:
        """Await its `flush`."""
        self._run(self._made.flush())

    def close(self) -> None:
        """Await its `close`, and close the loop."""
        if self._made is not None:
            self._run(self._made.close())
            self._made = None
            self._loop.close()

    def _run(self, given: Any) -> Any:
        return self._loop.run(given) if isinstance(given, CoroutineType) else given

    @staticmethod
    def fits(made: Any) -> bool:
        """Whether any of the methods is a coroutine function."""
        return any(inspect.iscoroutinefunction(getattr(made, method)) for method in METHODS)


class YieldedBackend:
    """What a generator function yields, as a fixture does; it is resumed after close."""

    def __init__(self, generator: Generator[Any, None, None], adapt: Adapt) -> None:
        """Raises UsageError if nothing is yielded."""
        self._generator: Generator[Any, None, None] | None = generator
        made = next(generator, _ENDED)
        if made is _ENDED:
            raise UsageError("the generator function yielded nothing: yield a backend, once")
        self._backend = adapt(made)
        self.execute = self._backend.execute
        self.get_result = self._backend.get_result
        self.flush = self._backend.flush
        _pass_on(self._backend, self)

    def close(self) -> None:
        """Close the backend, then run the rest of the function."""
        generator, self._generator = self._generator, None
        if generator is None:
            return
        self._backend.close()
        del self._backend, self.execute, self.get_result, self.flush
        self.__dict__.pop("memory_map", None)  # a method of the backend's, which it holds
        if next(generator, _ENDED) is not _ENDED:
            raise UsageError("the generator function yielded more than once: yield one backend")


class Adapt(Protocol):
    """Makes a backend of what a factory made."""

    def __call__(self, made: Any) -> Backend: ...


class ModelFunction:
    """A torch.nn.Module as a function of a frame.

    The module is called in evaluation mode, without gradients, with a float32 tensor of
    [1, C, H, W], from 0 to 1, and what it returns is the result.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._module = module.eval()
        self._inference = sys.modules["torch"].inference_mode

    def __call__(self, frame: Frame) -> Any:
        """Call the module."""
        with self._inference():
            return self._module(as_tensor(frame))


class ScriptFile:
    """A factory: loads a TorchScript file, anew each time."""

    __module__ = ""

    def __init__(self, path: str) -> None:
        self._path = path

    def __call__(self) -> ModelFunction:
        """Raises UsageError if the file can't be loaded."""
        import torch

        if not os.path.isfile(self._path):
            raise UsageError(f"there is no file {self._path}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # it is what the file is
                return ModelFunction(torch.jit.load(self._path, map_location="cpu"))
        except (RuntimeError, OSError) as error:
            # torch goes on with what may have happened to the file.
            reason = str(error).strip().split("\n")[0].partition(". ")[0]
            raise UsageError(
                f"{self._path} is not a TorchScript file: {reason}: write it with torch.jit.save"
            ) from None


def is_module(made: Any) -> bool:
    """Whether it is a torch.nn.Module. torch is loaded if anything is one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(made, torch.nn.Module)
