"""What only the garbage collector can free, and the reference cycle that keeps it."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from typing import Any

import msgspec

_SHOWN_TYPES = 8


class Garbage(msgspec.Struct, frozen=True):
    """What the collector found when all cycles of a run were over."""

    types: dict[str, int] = {}
    """objects by the name of their type, the most numerous first; those of the backend's own
    types before all others"""
    own: int = 0
    """how many are of a type that the backend defines"""
    cycle: tuple[str, ...] = ()
    """types along one reference cycle, the first one again at its end"""


def collect(backend_root: str) -> Garbage:
    """Run the collector once, tell what it found, and free it.

    `backend_root` is the folder or file that the backend's own types are defined in.
    """
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(flags)
    found = list(gc.garbage)
    gc.garbage.clear()
    described = _describe(found, backend_root)
    found.clear()
    gc.collect()
    return described


def _describe(found: list[Any], backend_root: str) -> Garbage:
    own = [thing for thing in found if _is_defined_in(type(thing), backend_root)]
    names = Counter(_name(thing) for thing in own).most_common(_SHOWN_TYPES)
    others = Counter(_name(thing) for thing in found).most_common(_SHOWN_TYPES)
    return Garbage(dict([*names, *others][:_SHOWN_TYPES]), len(own), _cycle(found, own))


def _is_defined_in(kind: type, root: str) -> bool:
    module = sys.modules.get(kind.__module__)
    return bool(root) and str(getattr(module, "__file__", None) or "").startswith(root)


def _name(thing: Any) -> str:
    return type(thing).__qualname__


def _cycle(found: list[Any], own: list[Any]) -> tuple[str, ...]:
    """The shortest way from an object, one of the backend's if there is any, back to itself."""
    members = {id(thing): thing for thing in found}
    for start in [*own, *found]:
        came_from: dict[int, int] = {}
        frontier = [start]
        while frontier:
            reached = []
            for thing in frontier:
                for referent in gc.get_referents(thing):
                    if referent is start:
                        return (*_way(start, thing, came_from, members), _name(start))
                    if id(referent) in members and id(referent) not in came_from:
                        came_from[id(referent)] = id(thing)
                        reached.append(referent)
            frontier = reached
    return ()


def _way(start: Any, end: Any, came_from: dict[int, int], members: dict[int, Any]) -> list[str]:
    """Types from `start` to `end`, both included."""
    names = [_name(end)]
    at = id(end)
    while at != id(start):
        at = came_from[at]
        names.append(_name(members[at]))
    return names[::-1]
