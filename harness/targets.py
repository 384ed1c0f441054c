"""From what a user calls a backend to the `module:attribute` or `file.py:attribute` that makes one.

Short names are entry points of the group `steadyframe.targets`, so that any installed package can
add its own. Nothing is imported to list or to resolve them: a target is imported where it is
measured, and only there.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.errors import SETUP, UsageError, meant, near
from harness.names import MODEL_FILES

GROUP = "steadyframe.targets"
SCHEMES = "steadyframe.schemes"
"""the group of factories that take a text: `libavfilter:hflip` calls that of `libavfilter` with
`hflip`. An attribute `check`, if a factory has one, raises ValueError for a text that is none."""

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(f"{_NAME}:{_NAME}")


def registered() -> dict[str, tuple[EntryPoint, ...]]:
    """Every short name, sorted, with the entry points that claim it (more than one is a clash)."""
    names: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, origin(point))):
        there = names.get(point.name, ())
        # One that is found twice, in a checkout and where it is installed, is no clash.
        if (origin(point), point.value) not in [(origin(one), one.value) for one in there]:
            names[point.name] = (*there, point)
    return names


def schemes() -> dict[str, EntryPoint]:
    """The factories that take a text, by the name before the colon."""
    return {point.name: point for point in sorted(entry_points(group=SCHEMES))}


def scheme_of(target: str) -> tuple[EntryPoint, str] | None:
    """The factory and the text of a target such as `libavfilter:hflip`; None for any other."""
    name, _, text = target.partition(":")
    point = schemes().get(name) if text else None
    return (point, text) if point else None


def origin(point: EntryPoint) -> str:
    """Name of the distribution that registers an entry point."""
    return point.dist.name if point.dist is not None else "an unnamed distribution"


def reference(point: EntryPoint) -> str:
    """The `module:attribute` that an entry point stands for."""
    return f"{point.module}:{point.attr}"


def resolve(target: str) -> str:
    """Return `module:attribute` for a short name, and a target in a long form as it is."""
    if scheme_of(target):
        return target
    if ":" in target:
        return _checked(target)
    if target.endswith(MODEL_FILES):
        if not Path(target).is_file():
            raise UsageError(f"there is no file {target!r}: check its path")
        return target
    names = registered()
    points = names.get(target, ())
    if len(points) > 1:
        owners = " and ".join(f"{origin(point)} ({reference(point)})" for point in points)
        raise UsageError(
            f"the short name {target!r} is registered by {owners}: use one of the long forms"
        )
    if points:
        return _checked(reference(points[0]))
    if not names:
        raise UsageError(
            f"{target!r} is a short name, and short names need an installed steadyframe: "
            f"{SETUP}, or give the target as package.module:factory"
        )
    raise UsageError(f"no target is called {target!r}: {_suggestion(target, names)}")


def _checked(target: str) -> str:
    place, _, attribute = target.rpartition(":")
    if place.endswith(".py"):
        if not Path(place).is_file():
            close = near(place, map(str, Path(place).parent.glob("*.py")))
            hint = f"did you mean {close!r}?" if close else f"check the path in {target!r}"
            raise UsageError(f"there is no file {place!r}: {hint}")
        if re.fullmatch(_NAME, attribute):
            return target
    elif _REFERENCE.fullmatch(target):
        return target
    raise UsageError(
        f"{target!r} is not a target: give package.module:factory or path/to/file.py:factory"
    )


def _suggestion(target: str, names: dict[str, tuple[EntryPoint, ...]]) -> str:
    if target.endswith(".py"):
        return f"a factory in a file is given as {target}:factory"
    if "." in target:
        return f"a factory in a module is given as {target}:factory"
    return f"{meant(target, names)} (or give package.module:factory)"


def name_of(factory: Callable[..., Any]) -> str | None:
    """The target that a callable can be imported by in another process, None if by none.

    None for what is made in a function, typed in, or hidden behind another object of its name.
    """
    module, name = getattr(factory, "__module__", None), getattr(factory, "__qualname__", None)
    loaded = sys.modules.get(module or "")
    if loaded is None or name is None or "<" in name or _attribute(loaded, name) is not factory:
        return None
    file = getattr(loaded, "__file__", None)
    if _is_found_anew(loaded):
        return f"{module}:{name}"
    # The main module, and what a test runner imports by its own rules.
    return f"{_relative(file)}:{name}" if file and file.endswith(".py") else None


def description(factory: Callable[..., Any]) -> str:
    """What people are to call a callable that no name stands for."""
    while isinstance(factory, functools.partial):
        factory = factory.func
    code = getattr(factory, "__code__", None)
    name = getattr(factory, "__qualname__", None) or type(factory).__qualname__
    module = getattr(factory, "__module__", None) or type(factory).__module__
    file = code.co_filename if code else getattr(sys.modules.get(module), "__file__", None)
    return f"{_relative(file) if file else module}:{name}"


def _attribute(module: ModuleType, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _is_found_anew(module: ModuleType) -> bool:
    """Whether a module of this name, imported anew by the command line, comes from the same file.

    That looks in the current folder and where packages are installed, and a package's modules are
    found below it; a single file elsewhere, which a test runner adds to the path, is not found.
    """
    name, file = module.__name__, getattr(module, "__file__", None)
    if name == "__main__" or file is None:
        return False
    folders = None
    for depth in range(name.count(".") + 1):
        part = ".".join(name.split(".")[: depth + 1])
        found = _find(part, folders)
        if found is None:
            return False
        folders = found.submodule_search_locations
    at_home = "." in name or Path(file).parent == Path.cwd() or _is_installed(file)
    return at_home and found is not None and found.origin == file


def _find(name: str, folders: Sequence[str] | None) -> ModuleSpec | None:
    """A module as the import system finds it, without the module being imported."""
    for finder in sys.meta_path:
        if hasattr(finder, "find_spec") and (found := finder.find_spec(name, folders)):
            return found
    return None


def _is_installed(file: str) -> bool:
    paths = sysconfig.get_paths()
    return any(file.startswith(paths[name] + os.sep) for name in ("purelib", "platlib", "stdlib"))


def _relative(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
