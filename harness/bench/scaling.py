"""The scaling section: how the cost of verify grows with what it is given.

Each series changes one quantity and keeps the others. The exponent k of cost = c * quantity**k is
fitted to each turn by least squares on logarithms: 1 is linear; what is below it is a part that
does not grow, such as the start of the processes.
"""

from __future__ import annotations

import functools
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness import isolate
from harness.bench.events import LEAST_EVENTS, Analysed, analyse
from harness.bench.ratios import exponent, in_turn
from harness.bench.section import Cell, Chart, Column, Line, Section, Target, Tell
from harness.verify import verify

MOST_EXPONENT = 1.1
MOST_BYTES = 300 * 2**20
"""of the process that analyses a trace, whatever its length"""
TARGET = "backend.reference:open_small"
EVENTS = tuple(LEAST_EVENTS * n for n in (1, 4, 16))
KEPT = (EVENTS[-1], 10)
"""events of a trace that keeps one block of so many"""
_SIDE = 16
_FRAMES = 192
"""of all resolutions together"""

COLUMNS = [
    Column("cost of"),
    Column("by the number of"),
    Column("from"),
    Column("to"),
    Column("least", "s"),
    Column("most", "s"),
    Column("exponent"),
]
ABOUT = (
    "Seconds of verify on a small model with frames of 16x16 and more, called in a process that "
    "goes on, and of the analysis of a trace alone. The exponent is that of a power law fitted by "
    "least squares on the logarithms, the median of the turns: 1 is linear, and less is a part "
    "that does not grow, such as the start of processes."
)


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity, and how verify is called for each value of it."""

    quantity: str
    values: tuple[int, ...]
    asked: Callable[[int], dict[str, Any]]
    """keyword arguments of verify"""


def _frames(count: int) -> dict[str, Any]:
    return {"workload": f"{_SIDE}x{_SIDE}@25*{count}"}


def _resolutions(count: int) -> dict[str, Any]:
    each = _FRAMES // count
    parts = [f"{_SIDE + 2 * number}x{_SIDE}@25*{each}" for number in range(count)]
    return {"workload": ",".join(parts)}


def _cycles(count: int) -> dict[str, Any]:
    return {"workload": f"{_SIDE}x{_SIDE}@25*40", "cycles": count}


def _nireq(count: int) -> dict[str, Any]:
    options = {"mode": "async", "nireq": count}
    return {"workload": f"{_SIDE}x{_SIDE}@400*320", "options": options}


SERIES = (
    Series("frames", (50, 200, 800), _frames),
    Series("resolutions", (1, 4, 16), _resolutions),
    Series("cycles", (3, 9, 27), _cycles),
    Series("nireq", (1, 4, 16), _nireq),
)

Turns = Mapping[int, Sequence[float]]
"""seconds of each turn, by the value of the quantity"""


def measure(turns: int, tell: Tell) -> Section:
    """The table of all series."""
    isolate.prestart()
    found: dict[str, Turns] = {}
    for series in SERIES:
        tell(f"verify by {series.quantity}")
        found[series.quantity] = _verified(series, turns)
    tell("analysis by events of the trace")
    analysed = _analysed(turns)
    kept = analyse(*KEPT)
    by_events = {runs[0].events: [run.seconds for run in runs] for runs in analysed}
    rows = [_row("verify", name, taken) for name, taken in found.items()]
    fits = {**found, "events": by_events}
    return Section(
        name="scaling",
        title="How the cost of verify grows",
        about=ABOUT,
        columns=COLUMNS,
        rows=[*rows, _row("analysis", "events", by_events)],
        notes=list(_notes([runs[0] for runs in analysed], kept)),
        charts=[_chart(fits)],
        targets=list(_targets(fits, [*(run for runs in analysed for run in runs), kept])),
        raw={"seconds": {name: {str(x): s for x, s in t.items()} for name, t in fits.items()}},
    )


def _verified(series: Series, turns: int) -> Turns:
    calls = {
        str(value): functools.partial(_seconds, series.asked(value)) for value in series.values
    }
    return {int(value): taken for value, taken in in_turn(calls, turns).items()}


def _seconds(asked: Mapping[str, Any]) -> float:
    report = verify(TARGET, **asked)
    if report.failure is not None:
        raise RuntimeError(report.failure.text)
    return report.cost.wall_s


def _analysed(turns: int) -> list[list[Analysed]]:
    calls = {str(events): functools.partial(analyse, events, 0) for events in EVENTS}
    return list(in_turn(calls, turns).values())


def fitted(turns: Turns) -> float:
    """The exponent, the median over the turns."""
    each = zip(*turns.values(), strict=True)
    return statistics.median(exponent(zip(turns, turn, strict=True)) for turn in each)


def _row(cost: str, quantity: str, turns: Turns) -> list[Cell]:
    least, most = min(turns), max(turns)
    ends = [statistics.median(turns[value]) for value in (least, most)]
    return [cost, quantity, least, most, *ends, fitted(turns)]


def _notes(analysed: Sequence[Analysed], kept: Analysed) -> Iterator[str]:
    for run in (*analysed, kept):
        each = f"{run.seconds / run.events * 1e6:.2f} us an event"
        peak = f"peak {run.peak_bytes / 2**20:.0f} MiB"
        trace = f"a trace of {run.events:,} events, {run.alive:,} blocks alive at its end"
        yield f"{trace}: {each}, {peak}"


def _chart(fits: Mapping[str, Turns]) -> Chart:
    """Everything by its own first point, so that slopes can be compared."""
    lines = []
    for name, turns in fits.items():
        least = min(turns)
        base = statistics.median(turns[least])
        points = [(round(x / least, 1), statistics.median(of) / base) for x, of in turns.items()]
        lines.append(Line(name, [*points]))
    return Chart("Cost by quantity", "times the least", "times the cost of the least", lines)


def _targets(fits: Mapping[str, Turns], runs: Sequence[Analysed]) -> Iterator[Target]:
    exponents = {name: fitted(turns) for name, turns in fits.items()}
    worst = max(exponents, key=lambda name: exponents[name])
    yield Target("verify: exponent of its cost", MOST_EXPONENT, exponents[worst], f"by {worst}")
    largest = max(runs, key=lambda run: run.peak_bytes)
    yield Target(
        "analysis: peak memory",
        MOST_BYTES / 2**20,
        largest.peak_bytes / 2**20,
        f"{largest.events:,} events, {largest.alive:,} blocks alive",
        "MiB",
    )
