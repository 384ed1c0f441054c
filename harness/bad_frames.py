"""Frames that a backend can't be expected to take, and the order in which it meets them.

First some good frames, then bad and good ones in turn, each bad frame together with the good one
that follows it. One round has each kind once; in the first, each may still be new to the backend.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.plan import PlannedStep
from harness.timeline import Interval

GOOD_FIRST = 8
KINDS = ("no pixels", "float64 samples", "a wrong number of channels", "an unknown pixel format")
ROUNDS = 5
"""A leak adds to each round after the first. With three rounds, the first errors of a pool's two
threads did so too: which of them meets an error, and when, is up to the scheduler."""
PASSES = ("control", "second control", "screened", "traced")
"""Through an instance each: groups of rows in RESULTS, and cycles for the flight recorder."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One frame of the schedule."""

    number: int
    bad: str = ""
    """one of KINDS; empty for a good frame"""


def schedule() -> list[Planned]:
    """Every frame in order."""
    bad = [kind for _ in range(ROUNDS) for kind in KINDS]
    kinds = [*[""] * GOOD_FIRST, *(each for kind in bad for each in (kind, ""))]
    return [Planned(number, kind) for number, kind in enumerate(kinds)]


def bursts() -> list[tuple[list[Planned], bool]]:
    """Frames that are submitted back to back, and whether a round ends with them."""
    planned = schedule()
    found = [([frame], False) for frame in planned[:GOOD_FIRST]]
    pairs = list(zip(planned[GOOD_FIRST::2], planned[GOOD_FIRST + 1 :: 2], strict=True))
    found += [([*pair], n % len(KINDS) == 0) for n, pair in enumerate(pairs, start=1)]
    return found


def intervals() -> list[Interval]:
    """What lies between the marks of a traced pass. A collection ends each round."""
    laid_out = [Interval("open", 1)]
    for index, (frames, ends_round) in enumerate(bursts()):
        step = PlannedStep(index, frames[0].number, frames[-1].number, 0, 0, "steady")
        laid_out.append(Interval("step", 1, step))
        if ends_round:
            laid_out.append(Interval("collect", 1))
    return [*laid_out, Interval("flush", 1), Interval("close", 1)]
