"""From what a user calls a backend to the `module:attribute` that makes one.

Short names are entry points of the group `steadyframe.targets`, so that any installed package can
add its own. Nothing is imported to list or to resolve them: a target is imported where it is
measured, and only there.
"""

from __future__ import annotations

import difflib
import re
from importlib.metadata import EntryPoint, entry_points

from harness.errors import UsageError

GROUP = "steadyframe.targets"

_NAME = r"[^\W\d]\w*(?:\.[^\W\d]\w*)*"
_REFERENCE = re.compile(rf"(?P<module>{_NAME}):(?P<attribute>{_NAME})")


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
    """Return `module:attribute` for a short name, or for a target that has this form already."""
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
    match = _REFERENCE.fullmatch(target)
    if match is None:
        raise UsageError(
            f"{target!r} is not a target: give it as package.module:factory (dots, no path, no .py)"
        )
    if match["module"].endswith(".py"):
        name = match["module"].removesuffix(".py")
        raise UsageError(
            f"{target!r} names a file, not a module: try {name + ':' + match['attribute']!r}"
        )
    return target


def _suggestion(target: str, names: dict[str, tuple[EntryPoint, ...]]) -> str:
    if "." in target:
        return f"a factory in a module is given as {target}:factory"
    close = difflib.get_close_matches(target, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"choose from {', '.join(names)}, or give package.module:factory"
