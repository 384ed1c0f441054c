"""What a tool is to the matrix, and what it said of one run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec

from harness.selftest import Planted

Place: TypeAlias = tuple[str, int]
"""file and line"""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was said of one run."""

    alarm: str = ""
    """an accusation that stands by itself"""
    totals: Mapping[str, int] = field(default_factory=dict)
    """of the whole process: they say something only beside those of another run"""
    places: Mapping[Place, int] = field(default_factory=dict)
    """lines that were named, and the most that was said of each, as a total"""
    failed: str = ""
    """why the run came to no end; what was said until then is said all the same"""


Run: TypeAlias = Callable[[Planted], Said]


@dataclass(frozen=True)
class Tool:
    """One column."""

    name: str
    open: Callable[[], contextlib.AbstractContextManager[Run]]
    """makes what runs backends, one at a time"""


def target_of(run: Planted) -> str:
    """The backend as text, for another process."""
    return f"{run.factory.__module__}:{run.factory.__qualname__}"


def plain_command(run: Planted) -> list[str]:
    """The arguments of `python -m` that drive it with nothing measured."""
    asked = run.asked
    options = msgspec.json.encode(asked["options"]).decode()
    cycles = str(asked["cycles"])
    command = ["harness.bench.plain", target_of(run), asked["workload"], cycles, options]
    return command if asked["quick"] else [*command, "whole"]


def plain_in_python(run: Planted) -> str:
    """The same as an expression, a `harness.bench.plain.Plain`."""
    asked = run.asked
    target, workload, options = target_of(run), asked["workload"], asked["options"]
    return f"Plain({target!r}, {workload!r}, {options!r}, whole={not asked['quick']})"
