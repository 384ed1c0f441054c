"""How what was seen of a watched process is written, the same in every renderer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.report.verdict import WORDS
from harness.watch.result import Trend, Watched

QUANTITIES = {
    "memory": "memory (judged)",
    "uss": "uss",
    "rss": "rss",
    "pss": "pss",
    "swap": "swap",
    "threads": "threads",
    "fds": "descriptors",
    "processes": "processes",
}
"""fields of a sample, and what they are called"""
COLUMNS = ("", "first steady", "last", "least", "most")

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
_BYTES = ("memory", "uss", "rss", "pss", "swap")


def size(number: float, *, sign: bool = False) -> str:
    """A number of bytes with three or four digits: `12.5 KiB`."""
    unit = 0
    while abs(number) >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    digits = 0 if unit == 0 and (abs(number) >= 10 or number == int(number)) else 1
    return f"{number:{'+' if sign and number else ''}.{digits}f} {_UNITS[unit]}"


def headline(report: Watched) -> str:
    """The verdict in a sentence."""
    return f"{report.watched}: {report.why}."


def word(report: Watched) -> str:
    """The verdict in a word."""
    return WORDS[report.verdict]


def growth(report: Watched) -> Iterator[str]:
    """Lines on how fast it grows."""
    trend = report.trend
    if trend is None:
        return
    yield f"{_rate(trend, trend.per_second, trend.low, trend.high)} per second"
    if trend.per_frame is not None:
        yield f"{_rate(trend, *trend.per_frame)} per frame at {report.fps:g} fps"
    steady = report.samples[report.start : report.end]
    seconds = steady[-1].at - steady[0].at
    yield (
        f"{size(steady[0].memory)} after {steady[0].at:.1f} s of start-up, and its floor "
        f"{size(trend.growth, sign=True)} in the {seconds:.1f} s that follow"
    )


def method(report: Watched) -> str:
    """How sure the verdict is."""
    rate = f"a drift is said of 1 in {1 / report.false_alarms:.0f} processes without one, at most"
    if report.trend is None:
        return rate
    return f"p {report.trend.p:.4f}, of the later half {report.trend.later_p:.4f}; {rate}"


def table(report: Watched) -> Iterator[tuple[str, ...]]:
    """Rows of COLUMNS, over the steady state."""
    steady = report.samples[report.start : report.end]
    if not steady:
        return
    for name, title in QUANTITIES.items():
        values: Sequence[int] = [getattr(sample, name) for sample in steady]
        numbers = (values[0], values[-1], min(values), max(values))
        shown = (size(n) if name in _BYTES else f"{n:,}" for n in numbers)
        yield (title, *shown)


def ending(report: Watched) -> str:
    """How much was seen, and how the watch ended."""
    last = report.samples[-1].at if report.samples else 0.0
    count = len(report.samples)
    return f"{count:,} samples in {last:.1f} s, every {report.interval:g} s; {report.ending}"


def _rate(trend: Trend, rate: float, low: float, high: float) -> str:
    interval = f"{size(low, sign=True)} to {size(high, sign=True)}"
    return f"{size(rate, sign=True)} ({trend.confidence:.0%} confidence: {interval})"
