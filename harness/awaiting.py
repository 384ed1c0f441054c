"""Results of a backend at rest: they may still come, or be held back by design."""

from __future__ import annotations

import time
from collections.abc import Callable

_SLICE_S = 0.002


def await_results(
    held: Callable[[], int],
    allowed: Callable[[], int],
    take_in: Callable[[], None],
    grace_s: float,
) -> float:
    """Take results in until no more than `allowed` frames are held, or none came for `grace_s`.

    Returns the longest time in seconds that one stayed away; 0 if none came at all.
    """
    left, since, slowest = held(), time.monotonic(), 0.0
    while left > allowed() and time.monotonic() - since < grace_s:
        time.sleep(_SLICE_S)
        take_in()
        if held() < left:
            now = time.monotonic()
            slowest = max(slowest, now - since)
            left, since = held(), now
    return slowest
