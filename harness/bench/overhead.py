"""The harness section: what it costs to be watched, by each tool, on the same backend and workload.

Two works. `planned` has frames of some weight, to which the harness adds little. The other is small
enough for memcheck, which takes a minute to import torch and some fifty times as long for a frame.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from harness import isolate
from harness.bench import optional
from harness.bench.ratios import in_turn, ratio
from harness.bench.section import Cell, Chart, Column, Line, Section, Target, Tell
from harness.bench.watched import CYCLES, PEERS, Timed, Work, inside, installed, plain, verified

HEAVY = Work("backend.reference:open_planned", "256x256@25*200")
LIGHT = Work("backend.reference:open_small", "32x32@25*20")
LIGHT_TURNS = 1
"""a turn of memcheck takes a minute or two"""
MOST_TRACED = 1.5
MOST_SCREENED = 1.05
MOST_ADDED_S = 3.0
LEAST_BY_MEMCHECK = 20.0

COLUMNS = [
    Column("backend and workload"),
    Column("tool"),
    Column("timed"),
    Column("time", "s"),
    Column("by plain"),
    Column("more than plain", "s"),
]
ABOUT = (
    f"{CYCLES} cycles under each tool, and plain: a loop that gives each frame to the backend and "
    "takes its result. Cycles are timed in the process that runs them, without imports; a command "
    "from its start to its end: for verify, with all the runs that it makes and its judgement. All "
    "take turns, each in a process of its own; ratios and differences are of the same turn, and of "
    "these the median."
)

Found = Mapping[str, Sequence[Timed]]
"""the turns of each tool"""


def measure(turns: int, tell: Tell) -> Section:
    """The table of both works; peers that are not installed have rows that say so."""
    isolate.prestart()
    heavy = in_turn(_ours(HEAVY, tell), turns)
    light = in_turn(_ours(LIGHT, tell) | _peers(LIGHT, tell), LIGHT_TURNS)
    there = installed()
    missing = [peer.name for peer in PEERS if peer not in there]
    return Section(
        name="harness",
        title="What it costs to be watched",
        about=ABOUT,
        columns=COLUMNS,
        rows=[*_rows(HEAVY, heavy, []), *_rows(LIGHT, light, missing)],
        notes=optional.notes(*(peer.needs for peer in PEERS)),
        charts=[_chart(light)],
        targets=list(_targets(heavy, light)),
        raw={
            str(work): {name: [turn._asdict() for turn in taken] for name, taken in found.items()}
            for work, found in ((HEAVY, heavy), (LIGHT, light))
        },
    )


def _ours(work: Work, tell: Tell) -> dict[str, Callable[[], Timed]]:
    calls: dict[str, Callable[[], Timed]] = {
        "plain": functools.partial(plain, work),
        "screening": functools.partial(inside, "screen", work),
        "verify, traced run": functools.partial(inside, "trace", work),
        "verify": functools.partial(verified, work),
    }
    return {name: _told(f"{work}: {name}", call, tell) for name, call in calls.items()}


def _peers(work: Work, tell: Tell) -> dict[str, Callable[[], Timed]]:
    return {
        peer.name: _told(f"{work}: {peer.name}", functools.partial(peer, work), tell)
        for peer in installed()
    }


def _told(what: str, call: Callable[[], Timed], tell: Tell) -> Callable[[], Timed]:
    def told() -> Timed:
        tell(what)
        return call()

    return told


def _rows(work: Work, found: Found, missing: Sequence[str]) -> Iterator[list[Cell]]:
    for timed in Timed._fields:
        base = seconds(found["plain"], timed)
        for name, turns in found.items():
            if taken := seconds(turns, timed):
                by, more = ratio(taken, base), added(taken, base)
                yield [str(work), name, timed, statistics.median(taken), by, more]
    for name in missing:
        yield [str(work), name, "command", *([optional.MISSING] * 3)]


def seconds(turns: Sequence[Timed], timed: str) -> list[float]:
    """Of each turn, where it was timed."""
    return [value for turn in turns if (value := getattr(turn, timed)) is not None]


def added(of: Sequence[float], to: Sequence[float]) -> float:
    """The median over the turns of the one less the other."""
    return statistics.median(one - other for one, other in zip(of, to, strict=True))


def _chart(found: Found) -> Chart:
    base = seconds(found["plain"], "command")
    commands = {name: seconds(turns, "command") for name, turns in found.items()}
    points: list[tuple[float | str, float]] = [
        (name, ratio(taken, base)) for name, taken in commands.items() if taken
    ]
    lines = [Line("time by plain", points)]
    return Chart(f"Commands on {LIGHT}", "", "time by plain", lines, bars=True)


def _targets(heavy: Found, light: Found) -> Iterator[Target]:
    base = seconds(heavy["plain"], "cycles")
    for what, name, limit in (
        ("verify: cycles of the traced run by plain", "verify, traced run", MOST_TRACED),
        ("screening: cycles by plain", "screening", MOST_SCREENED),
    ):
        yield Target(what, limit, ratio(seconds(heavy[name], "cycles"), base), str(HEAVY))
    commands = seconds(heavy["plain"], "command")
    more = added(seconds(heavy["verify"], "command"), commands)
    yield Target("verify: more than the plain command", MOST_ADDED_S, more, str(HEAVY), "s")
    memcheck = next(peer for peer in PEERS if peer.needs == "valgrind")
    faster, at = None, f"valgrind is {optional.version(memcheck.needs)}"
    if memcheck.name in light:
        of, to = (seconds(light[name], "command") for name in (memcheck.name, "verify"))
        faster, at = ratio(of, to), str(LIGHT)
    yield Target("memcheck: time by that of verify", LEAST_BY_MEMCHECK, faster, at, at_least=True)
