"""What `inject` says: the operations of a run, and those whose failure breaks something."""

from __future__ import annotations

import msgspec

from harness.inject.points import Break
from harness.result import Failure, StackFrame, Verdict

SCHEMA = 1


class Broken(msgspec.Struct, frozen=True):
    """An operation whose failure broke something."""

    index: int
    """of all operations, from 1, thread by thread"""
    total: int
    operation: str
    kind: str
    lasting: bool
    """so did all operations after it"""
    first_use: bool
    """it is done once in a process"""
    thread: str
    phase: str
    frame: int
    """last frame submitted, -1 before the first"""
    stack: tuple[StackFrame, ...]
    """innermost frame first"""
    breaks: tuple[Break, ...]


class InjectReport(msgspec.Struct):
    """All that is known."""

    schema: int
    verdict: Verdict
    target: str
    workload: str
    operations: int = 0
    """that can fail, in a run without a failure"""
    stacks: int = 0
    """that they are done at"""
    points: int = 0
    """operations that were chosen to fail"""
    runs: int = 0
    """failures: each point once, and once with all that follows it"""
    unreached: int = 0
    """runs that did not come to their point"""
    kinds: dict[str, int] = {}
    """operations by kind"""
    broken: tuple[Broken, ...] = ()
    stopped: bool = False
    """so many points broke something that the rest were left out"""
    failure: Failure | None = None
    notes: tuple[str, ...] = ()
    wall_s: float = 0.0
    replay: str = ""


def to_json(report: InjectReport) -> str:
    """The report as indented JSON text."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
