"""Make a backend of whatever a target names: a factory, or a plain function of a frame."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from types import GeneratorType
from typing import Any

from backend.protocol import Backend
from harness import inherited, targets
from harness.adapters import (
    AsyncBackend,
    FunctionBackend,
    ModelFunction,
    Named,
    ScriptFile,
    YieldedBackend,
    is_module,
)
from harness.errors import UsageError, meant, near, shadowed
from harness.names import METHODS, MODEL_FILES, ONNX_FILES
from harness.onnx import OnnxFile, SessionFunction, is_session


def load(target: str) -> Callable[..., Any]:
    """Import what `package.module:attribute` or `path/to/file.py:attribute` names."""
    if inherited.is_inherited(target):
        return inherited.factory_of(target)
    if target.endswith(ONNX_FILES):
        return OnnxFile(target)
    if target.endswith(MODEL_FILES):
        return ScriptFile(target)
    if scheme := targets.scheme_of(target):
        return _of_scheme(*scheme)
    place, _, attribute = target.rpartition(":")
    if not place or not attribute:
        raise UsageError(
            f"target '{target}' is not of the form package.module:factory or path/file.py:factory"
        )
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    found: Any = module
    walked = place
    for name in attribute.split("."):
        if not hasattr(found, name):
            hidden = _hidden_by(module, place)
            hint = f"{hidden}:{attribute} names yours" if hidden else _meant(name, found)
            raise UsageError(f"target '{target}': {walked} has no attribute '{name}': {hint}")
        found = getattr(found, name)
        walked += f":{name}" if walked == place else f".{name}"
    if not callable(found):
        raise UsageError(
            f"target '{target}' is a {type(found).__name__}; "
            "it must be callable: a factory, or a function of a frame"
        )
    loaded: Callable[..., Any] = found
    return loaded


def _hidden_by(module: Any, name: str) -> str | None:
    """The file of this name in the current folder, if the module that was imported is another."""
    file, imported = name.replace(".", "/") + ".py", getattr(module, "__file__", None)
    other = imported and Path(file).is_file() and not Path(file).samefile(imported)
    return file if other else None


def _meant(name: str, place: Any) -> str:
    there = _callables(place)
    return meant(name, there) if there else "it has nothing public that can be called"


def _callables(place: Any) -> list[str]:
    """Public names of what can be called in a module or class, those of its own first."""
    named = {
        name: getattr(found, "__module__", None)
        for name, found in getattr(place, "__dict__", {}).items()
        if callable(found) and not name.startswith("_")
    }
    return sorted(named, key=lambda name: named[name] != getattr(place, "__name__", ""))


def _of_scheme(point: EntryPoint, text: str) -> Callable[..., Any]:
    factory = load(targets.reference(point))
    try:
        getattr(factory, "check", lambda _: None)(text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    return functools.partial(factory, text)


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


def open_backend(
    target: Callable[..., Any],
    options: Mapping[str, Any],
    names: Mapping[str, str] | None = None,
) -> Backend:
    """Open the backend that a loaded target stands for.

    A function that needs exactly one positional argument is taken as the backend itself, and so is
    a torch.nn.Module; anything else is a factory, and may make another one. A generator function
    yields its backend once. `names` are the object's own names of the protocol's methods. Raises
    UsageError if it makes something that is no backend.
    """
    if is_module(target):
        return FunctionBackend(ModelFunction(target))
    if not isinstance(target, type) and _required(target) == 1 and not options:
        return FunctionBackend(target)
    _check_options(target, options)
    made = target(**options)
    if isinstance(made, GeneratorType):
        return YieldedBackend(made, functools.partial(_adapted, names=names or {}))
    return _adapted(made, names=names or {})


def _adapted(made: Any, names: Mapping[str, str]) -> Backend:
    if names:
        made = Named(made, names)
        if made.get_result is None:
            return FunctionBackend(made)
    lacking = [method for method in METHODS if not callable(getattr(made, method, None))]
    if not lacking:
        return AsyncBackend(made) if AsyncBackend.fits(made) else made
    if is_module(made):
        return FunctionBackend(ModelFunction(made))
    if is_session(made):
        return FunctionBackend(SessionFunction(made))
    if callable(made) and len(lacking) >= len(METHODS) - 1:
        if isinstance(made, type) or not _takes_a_frame(made):
            return open_backend(made, {}, names)
        return FunctionBackend(made)
    raise UsageError(
        f"the factory returned a {type(made).__name__} without {', '.join(lacking)}; "
        "return an object with execute, get_result, flush and close (--map execute=NAME tells "
        "other names), or a function of a frame"
    )


def _takes_a_frame(function: Callable[..., Any]) -> bool:
    signature = _signature(function)
    try:
        if signature is not None:
            signature.bind(None)
    except TypeError:
        return False
    return True


def _check_options(target: Callable[..., Any], options: Mapping[str, Any]) -> None:
    if (signature := _signature(target)) is not None:
        try:
            signature.bind(**options)
        except TypeError as error:
            known = signature.parameters
            guesses = (near(key, known) for key in options if key not in known)
            close = next(filter(None, guesses), None)
            hint = f": did you mean {close!r}?" if close else ""
            raise UsageError(
                f"the factory takes {_short(signature)}, and these options don't fit: {error}{hint}"
            ) from None


def _signature(target: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def _short(signature: inspect.Signature) -> str:
    """Names and defaults, without the types."""
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(bare))


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
            raise UsageError(shadowed(error.name) or _no_module(error.name)) from None
        raise UsageError(_import_failed(name, error)) from error
    except BaseException as error:
        raise UsageError(_import_failed(name, error)) from error


def _no_module(name: str) -> str:
    close = near(name, [*targets.schemes(), *(path.stem for path in Path().glob("*.py"))])
    mend = "check its name, and that it is in the current folder or installed"
    return f"there is no module '{name}': " + (f"did you mean '{close}'?" if close else mend)


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
