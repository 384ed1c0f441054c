"""From what a user calls a backend to the `module:attribute` or `file.py:attribute` that makes one.

Short names are entry points of the group `steadyframe.targets`, so that any installed package can
add its own. Nothing is imported to list or to resolve them: a target is imported where it is
measured, and only there.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from harness.errors import UsageError

GROUP = "steadyframe.targets"

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(f"{_NAME}:{_NAME}")


def registered() -> dict[str, tuple[EntryPoint, ...]]:
    """Every short name, sorted, with the entry points that claim it (more than one is a clash)."""
    names: dict[str, tuple[EntryPoint, ...]] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, origin(point))):
        names[point.name] = (*names.get(point.name, ()), point)
    return names


def origin(point: EntryPoint) -> str:
    """Name of the distribution that registers an entry point."""
    return point.dist.name if point.dist is not None else "an unnamed distribution"


def reference(point: EntryPoint) -> str:
    """The `module:attribute` that an entry point stands for."""
    return f"{point.module}:{point.attr}"


def resolve(target: str) -> str:
    """Return `module:attribute` for a short name, and a target in a long form as it is."""
    if ":" in target:
        return _checked(target)
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
            "run `make setup`, or give the target as package.module:factory"
        )
    raise UsageError(f"no target is called {target!r}: {_suggestion(target, names)}")


def _checked(target: str) -> str:
    place, _, attribute = target.rpartition(":")
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise UsageError(f"there is no file {place!r}: check the path in {target!r}")
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
    close = difflib.get_close_matches(target, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(names)}, or give package.module:factory"


def name_of(factory: Callable[..., Any]) -> str:
    """The target that a callable can be imported by in another process."""
    module, name = factory.__module__, factory.__qualname__
    if "<locals>" in name or "<lambda>" in name:
        raise UsageError(
            f"{name} is defined inside a function, so that a fresh process can't import it; "
            "move it to the top of its module"
        )
    if module == "__main__":
        main = sys.modules["__main__"]
        if not getattr(main, "__file__", None):
            raise UsageError(f"{name} was typed in, so that a fresh process can't import it")
        return f"{Path(str(main.__file__)).absolute()}:{name}"
    return f"{module}:{name}"
