"""Make a backend of whatever a target names: a factory, or a plain function of a frame."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from backend.frame import Frame
from backend.protocol import Backend, FrameFunction
from harness import inherited
from harness.errors import UsageError

METHODS = ("execute", "get_result", "flush", "close")
_NOTHING = object()
"""The result of a function that returned None, which from `get_result` would mean not ready."""


class FunctionBackend:
    """A plain callable, frame -> result, behind the backend protocol."""

    def __init__(self, function: FrameFunction) -> None:
        self._function: FrameFunction | None = function
        self._results: deque[Any] = deque()

    def execute(self, frame: Frame) -> None:
        """Call the function."""
        assert self._function is not None, "execute after close"
        result = self._function(frame)
        self._results.append(_NOTHING if result is None else result)

    def get_result(self) -> Any | None:
        """Return the oldest result that was not yet collected."""
        return self._results.popleft() if self._results else None

    def flush(self) -> None:
        """Nothing is ever in flight."""

    def close(self) -> None:
        """Close the function too, if it can be closed."""
        function, self._function = self._function, None
        self._results.clear()
        if function is not None and hasattr(function, "close"):
            function.close()


def load(target: str) -> Callable[..., Any]:
    """Import what `package.module:attribute` or `path/to/file.py:attribute` names."""
    if inherited.is_inherited(target):
        return inherited.factory_of(target)
    place, _, attribute = target.rpartition(":")
    if not place or not attribute:
        raise UsageError(
            f"target '{target}' is not of the form package.module:factory or path/file.py:factory"
        )
    found: Any = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    for name in attribute.split("."):
        if not hasattr(found, name):
            raise UsageError(f"target '{target}': {place} has no attribute '{name}'")
        found = getattr(found, name)
    if not callable(found):
        raise UsageError(
            f"target '{target}' is a {type(found).__name__}; "
            "it must be callable: a factory, or a function of a frame"
        )
    loaded: Callable[..., Any] = found
    return loaded


def root_of(target: Callable[..., Any]) -> str:
    """Folder of the top-level package, or the file, that a loaded target comes from."""
    while isinstance(target, functools.partial):
        target = target.func
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    path = getattr(module, "__file__", None)
    if module is None or path is None:
        return ""
    top = sys.modules.get(module.__name__.partition(".")[0], module)
    folders = getattr(top, "__path__", None)
    return str(next(iter(folders))) + "/" if folders else str(path)


def open_backend(target: Callable[..., Any], options: Mapping[str, Any]) -> Backend:
    """Open the backend that a loaded target stands for.

    A function that needs exactly one positional argument is taken as the backend itself; anything
    else is a factory. Raises UsageError if it makes something that is no backend.
    """
    if not isinstance(target, type) and _required(target) == 1 and not options:
        return FunctionBackend(target)
    _check_options(target, options)
    made = target(**options)
    if all(callable(getattr(made, method, None)) for method in METHODS):
        return made  # type: ignore[no-any-return]
    lacking = [method for method in METHODS if not callable(getattr(made, method, None))]
    if callable(made) and len(lacking) >= len(METHODS) - 1:
        return FunctionBackend(made)
    raise UsageError(
        f"the factory returned a {type(made).__name__} without {', '.join(lacking)}; "
        "return an object with execute, get_result, flush and close, or a function of a frame"
    )


def _check_options(target: Callable[..., Any], options: Mapping[str, Any]) -> None:
    if (signature := _signature(target)) is not None:
        try:
            signature.bind(**options)
        except TypeError as error:
            raise UsageError(
                f"the factory takes {signature}, and these options don't fit: {error}"
            ) from None


def _signature(target: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def _required(target: Callable[..., Any]) -> int:
    """How many arguments must be given by position."""
    signature = _signature(target)
    if signature is None:
        return 0
    parameters = signature.parameters.values()
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is p.empty for p in parameters)


def _import_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise UsageError(
                f"there is no module '{error.name}': check its name, and that it is in the "
                "current folder or installed"
            ) from None
        raise UsageError(_import_failed(name, error)) from error
    except BaseException as error:
        raise UsageError(_import_failed(name, error)) from error


def _import_file(path: Path) -> Any:
    if not path.is_file():
        raise UsageError(f"there is no file {path}")
    # The file may bear the name of a module that others import, and may import its neighbours.
    name = f"target_{path.stem}"
    sys.path.append(str(path.resolve().parent))
    module_spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert module_spec is not None
    assert module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[name] = module
    try:
        module_spec.loader.exec_module(module)
    except BaseException as error:
        raise UsageError(_import_failed(str(path), error)) from error
    return module


def _import_failed(place: str, error: BaseException) -> str:
    """One line: what was raised, and at the innermost line of it."""
    at = ""
    if isinstance(error, SyntaxError) and error.filename:
        at = f" ({error.filename}:{error.lineno})"
    elif traceback := error.__traceback__:
        while traceback.tb_next:
            traceback = traceback.tb_next
        at = f" ({traceback.tb_frame.f_code.co_filename}:{traceback.tb_lineno})"
    first_line = (str(getattr(error, "msg", error)).splitlines() or [""])[0]
    return f"importing {place} failed: {type(error).__name__}: {first_line}{at}"
