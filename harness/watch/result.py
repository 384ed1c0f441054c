"""What `watch` says, schema 1 of its JSON report."""

from __future__ import annotations

import msgspec

from harness.result import Verdict
from harness.watch.heaptrack import Site
from harness.watch.sample import Sample

SCHEMA = 1


class Trend(msgspec.Struct, frozen=True):
    """How fast memory grows once the start-up is over."""

    growth: int
    """bytes, from the first part of the steady state to its last"""
    per_second: float
    """bytes"""
    low: float
    high: float
    """the rate's confidence interval, bytes per second"""
    confidence: float
    p: float
    later_p: float
    """of the test of the whole steady state, and of its later half"""
    per_frame: tuple[float, float, float] | None = None
    """bytes, with its interval, at the frames per second that were told"""


class Watched(msgspec.Struct, frozen=True):
    """All that is known of a process that was watched."""

    schema: int
    verdict: Verdict
    why: str
    """the verdict in one sentence"""
    watched: str
    """the command, or `process N`"""
    ending: str
    """how the watch ended, in words"""
    exit_code: int | None
    """of a command that ended by itself; -N if by signal N"""
    interval: float
    """seconds"""
    false_alarms: float
    """the share of clean processes of which a drift is said, at most"""
    trend: Trend | None = None
    """None if there were too few samples"""
    start: int = 0
    """number of the first sample of the steady state"""
    end: int = 0
    """number after the last one: what follows is the process's own end"""
    samples: tuple[Sample, ...] = ()
    fps: float | None = None
    sites: tuple[Site, ...] = ()
    notes: tuple[str, ...] = ()


def to_json(report: Watched) -> str:
    """The report as indented JSON text."""
    # A command's arguments may be no UTF-8, and then have lone surrogates in them.
    watched = report.watched.encode("utf-8", "backslashreplace").decode("utf-8")
    report = msgspec.structs.replace(report, watched=watched)
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"
