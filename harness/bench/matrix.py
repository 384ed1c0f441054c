"""Which tool finds which planted fault: each fault and its repaired twin, run under each tool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

Outcome = Literal["found", "missed", "cannot tell", "no run", "missing"]
"""found        it says something of the faulty backend, and nothing of the repaired one
missed       it says nothing of the faulty one
cannot tell  it says something of the repaired one as well
no run       the backend crashed, raised or hung, and the tool came to no answer
missing      the tool is not installed"""


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What one tool made of one fault."""

    fault: str
    rule: str
    """that steadyframe holds it against: its kind, in the large"""
    kind: str
    tool: str
    outcome: Outcome
    at_line: bool = False
    """whether the tool named the fault's own line"""
    words: str = ""
    """what it said, or why it could not"""
    seconds: float = 0.0
    """of both runs, the faulty backend's and the repaired one's"""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, as it was used."""

    name: str
    version: str = ""
    missing: str = ""
    """the command that installs it, empty if it is there"""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All cells, by fault and then by tool."""

    tools: tuple[Used, ...]
    cells: tuple[Cell, ...]
    seconds: float
    """of the whole, two runs at a time"""


def measure(
    names: Sequence[str] = (), jobs: int = 2, tell: Callable[[Cell], None] = lambda _: None
) -> Matrix:
    """Run the faults of these names, all if there are none, under every tool that is installed.

    `tell` is called with each cell as it is done. Raises UsageError for a name that there isn't.
    """
    raise NotImplementedError
