"""Where operations are caught: torch's dispatcher, calls of modules, numpy's memory, new threads.

What is not caught: operators that torch runs inside of another one (those of a convolution), or
that TorchScript has fused into one of its own; memory that code in C, or Python itself, takes;
threads that are not Python's; other processes.
"""

from __future__ import annotations

import _thread
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from backend.frame import Frame
from backend.protocol import Backend
from harness.inject import numpy_memory
from harness.inject.points import NO_THREAD, OUT_OF_MEMORY
from harness.inject.watch import Watch

_STARTS = ("_start_new_thread", "_start_joinable_thread")
"""what threading calls, up to Python 3.12 and from 3.13 on"""
_FORWARD = torch.nn.Module._call_impl.__code__


@contextmanager
def installed(watch: Watch) -> Iterator[None]:
    """Have everything that can be caught caught, as long as the context is open."""
    with ExitStack() as undo:
        undo.enter_context(numpy_memory.watched(watch))
        handle = torch.nn.modules.module.register_module_forward_pre_hook(_forward_hook(watch))
        undo.callback(handle.remove)
        for module, names in ((threading, _STARTS), (_thread, ("start_new_thread",))):
            for name in names:
                if (start := getattr(module, name, None)) is not None:
                    undo.callback(setattr, module, name, start)
                    setattr(module, name, _starter(watch, start))
        yield


class _Mode(TorchDispatchMode):  # type: ignore[misc] # torch is not typed for mypy
    """Sees the operators of one thread. A mode is a thing of the thread that has entered it."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Else torch would put a call of its compiler around each operator, and import it."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self._watch.reached("operator", str(func)):
            # A failing operator keeps nothing: nor may the traceback, which has this frame.
            del types, args, kwargs
            raise RuntimeError(OUT_OF_MEMORY)
        return func(*args, **(kwargs or {}))


def _forward_hook(watch: Watch) -> Callable[[Any, Any], None]:
    def before(module: Any, inputs: Any) -> None:
        del inputs
        if _is_outermost() and watch.reached("forward", f"forward of {type(module).__name__}"):
            raise RuntimeError(OUT_OF_MEMORY)

    return before


def _is_outermost() -> bool:
    """Whether the module that is called is not a part of one that is called already."""
    frame, calls = sys._getframe(1), 0
    while (outer := frame.f_back) is not None:
        calls += outer.f_code is _FORWARD
        frame = outer
    return calls <= 1


def _starter(watch: Watch, start: Callable[..., Any]) -> Callable[..., Any]:
    """What starts a thread, and has it watched from its beginning."""

    def begin(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if watch.reached("thread", "start of a thread"):
            raise RuntimeError(NO_THREAD)
        return start(_Watched(watch, function, watch.thread_starts()), *args, **kwargs)

    return begin


class _Watched:
    """The function of a thread."""

    def __init__(self, watch: Watch, function: Callable[..., Any], number: int) -> None:
        self._watch = watch
        self._function = function
        self._number = number

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self._watch.thread_begins(self._number)
        numpy_memory.enter_thread()
        with _Mode(self._watch):
            self._function(*args, **kwargs)


class Caller:
    """The caller's thread, which is watched while it calls the backend."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._mode = _Mode(watch)

    @contextmanager
    def calls(self) -> Iterator[None]:
        """As long as the context is open, it does."""
        with self._watch.within(), self._mode:
            yield


class WatchedBackend:
    """A backend whose operations are watched while it is called."""

    def __init__(self, open_backend: Callable[[], Backend], caller: Caller) -> None:
        self._caller = caller
        with caller.calls():
            self._backend = open_backend()

    def execute(self, frame: Frame) -> None:
        """As the backend."""
        with self._caller.calls():
            self._backend.execute(frame)

    def get_result(self) -> Any | None:
        """As the backend."""
        with self._caller.calls():
            return self._backend.get_result()

    def flush(self) -> None:
        """As the backend."""
        with self._caller.calls():
            self._backend.flush()

    def close(self) -> None:
        """As the backend."""
        with self._caller.calls():
            self._backend.close()
