"""Which tool finds which planted fault: each fault and its repaired twin, run under each tool.

A tool finds a fault if it says something of the faulty backend and nothing of the repaired one, at
the same setting. Each is given what the fault's own declaration asks for: the workload, the cycles,
the options of the backend; and where `verify` does more than the traced run, bad frames and an
early close as well. The rest is in `harness/bench/tools`, a tool in each file.

Peers know nothing of steps, so what they are given beyond that is more than they have in practice:
first use is over before they look, and a tool that tells totals of a whole process has those of the
same run of the repaired backend beside it. Any total that is worse then counts as found, whatever
its size, if the repaired backend, run twice, does not differ from itself by as much.

    python -m harness.bench.matrix [FAULT ...]
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

import msgspec

from harness.bench.matrix.outcome import Judged, Outcome, judge
from harness.bench.optional import remedy, version
from harness.bench.tools.heaptrack import HEAPTRACK
from harness.bench.tools.memcheck import MEMCHECK
from harness.bench.tools.psleak import PSLEAK
from harness.bench.tools.pytest_memray import PYTEST_MEMRAY
from harness.bench.tools.steadyframe import STEADYFRAME
from harness.bench.tools.tool import Run, Tool
from harness.selftest import Planted, chosen, planted
from harness.side_by_side import each

TOOLS = (STEADYFRAME, PYTEST_MEMRAY, PSLEAK, HEAPTRACK, MEMCHECK)


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
    """of all runs, the faulty backend's and the repaired one's"""


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, as it was used."""

    name: str
    version: str = ""
    missing: str = ""
    """the command that installs it, empty if it is there"""


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """All cells, by tool and then by fault."""

    tools: tuple[Used, ...]
    cells: tuple[Cell, ...]
    seconds: float
    """of the whole, `jobs` runs at a time"""


Pair = tuple[Planted, Planted]
"""a fault and its repaired twin"""
Tell = Callable[[Cell], None]


def measure(
    names: Sequence[str] = (),
    jobs: int = 2,
    tell: Tell = lambda _: None,
    tools: Sequence[Tool] = TOOLS,
) -> Matrix:
    """Run the faults of these names, all if there are none, under every tool that is installed.

    `tell` is called with each cell that is really run, as it is done. Raises UsageError for a name
    that there isn't.
    """
    started = time.monotonic()
    pairs = pairs_of(names)
    used = tuple(_used(tool) for tool in tools)
    cells: list[Cell] = []
    for tool, one in zip(tools, used, strict=True):
        if one.missing:
            absent = Judged("missing", words=one.missing)
            cells += [_cell(fault, tool, absent, 0.0) for fault, _ in pairs]
        else:
            cells += _column(tool, pairs, jobs, tell)
    return Matrix(tools=used, cells=tuple(cells), seconds=time.monotonic() - started)


def pairs_of(names: Sequence[str]) -> list[Pair]:
    """The faults of these names, all if there are none. Raises UsageError for an unknown one."""
    runs = planted()
    twins = {run.name: run for run in runs if run.twin}
    faults = [run for run in runs if run.rule]
    return [(run, twins[run.name]) for run in chosen(faults, names)]


def installed() -> list[Tool]:
    """The tools that are there."""
    return [tool for tool in TOOLS if not _used(tool).missing]


def _used(tool: Tool) -> Used:
    if tool is STEADYFRAME:
        return Used(name=tool.name)
    if command := remedy(tool.name):
        return Used(name=tool.name, missing=command)
    return Used(name=tool.name, version=version(tool.name))


def _column(tool: Tool, pairs: Sequence[Pair], jobs: int, tell: Tell) -> list[Cell]:
    """All faults under one tool, `jobs` at a time; each worker has what the tool opened for it."""
    with ExitStack() as stack:
        opened: queue.SimpleQueue[Run] = queue.SimpleQueue()
        for _ in range(jobs):
            opened.put(stack.enter_context(tool.open()))
        return each(pairs, lambda pair: _look(tool, *pair, opened), jobs, tell)


def _look(tool: Tool, fault: Planted, twin: Planted, opened: queue.SimpleQueue[Run]) -> Cell:
    started = time.monotonic()
    run = opened.get()
    try:
        faulty, repaired = run(fault), [run(twin)]
        judged = judge(fault, faulty, repaired)
        if judged.outcome == "found" and not faulty.alarm:
            judged = judge(fault, faulty, [*repaired, run(twin)])
    finally:
        opened.put(run)
    return _cell(fault, tool, judged, time.monotonic() - started)


def _cell(fault: Planted, tool: Tool, judged: Judged, seconds: float) -> Cell:
    return Cell(
        fault=fault.name,
        rule=fault.rule,
        kind=fault.kind,
        tool=tool.name,
        outcome=judged.outcome,
        at_line=judged.at_line,
        words=judged.words,
        seconds=seconds,
    )
