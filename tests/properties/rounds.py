"""How many examples there are, for how long, and the count of those that ran.

A property test has as many examples as it says under `make test`, 20 times as many under
`make soak`. Under `make soak SECONDS=N` it has rounds of as many as under `make test`, each with
other examples, until one more would not fit into its share of the time. Hypothesis has no limit by
time; a round is never cut short, so that no failure is lost half shrunk.
"""

from __future__ import annotations

import functools
import os
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, settings

SECONDS = "SOAK_SECONDS"
"""the environment variable with the time for all property tests together, in seconds"""
ORDINARY = 100
"""examples of a test that says nothing else, in the profiles dev and ci"""
LAWS, TRACED, PROGRAMS = "workloads in process", "workloads traced", "programs of calls"

ran: Counter[str] = Counter()
"""by kind: what the property test that is running has tried, and found right, until now"""
_tests = 1
"""property tests of this session"""


def limit() -> float:
    """Seconds that all property tests have together; 0 if there is no limit.

    Raises pytest.UsageError.
    """
    text = os.environ.get(SECONDS) or "0"
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds < float("inf"):
        raise pytest.UsageError(f"the time must be a number of seconds, not {text!r}: SECONDS=600")
    return seconds


def share_among(tests: int) -> None:
    """Say how many property tests the time is for."""
    global _tests
    _tests = max(1, tests)


def share() -> float:
    """Seconds that one property test has; as many tests as there are workers run at once."""
    return limit() * int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")) / _tests


def times(count: int) -> settings:
    """So many examples; under the profile "soak" without a time, as many times more as that has.

    Without the phase that explains a failure: it runs the failing example again and again, which
    is no matter in one's own process, but takes minutes when each is a process.
    """
    if not limit():
        count = count * settings().max_examples // ORDINARY
    return settings(max_examples=count, phases=set(Phase) - {Phase.explain})


def in_rounds(test: Callable[..., None]) -> Callable[..., None]:
    """Make a test one that is repeated in its share of the time, and whose examples are counted."""

    @functools.wraps(test)
    def repeated(*args: Any, **kwargs: Any) -> None:
        end, longest = time.monotonic() + share(), 0.0
        begun = time.monotonic()
        while not longest or begun + longest <= end:
            test(*args, **kwargs)
            now = time.monotonic()
            longest, begun = max(longest, now - begun), now

    repeated.in_rounds = True  # type: ignore[attr-defined]
    return repeated
