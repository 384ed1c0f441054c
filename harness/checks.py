"""What is said of a machine: each check, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

State = Literal["good", "poor", "bad"]
"""poor: something is slower, or is not seen; bad: nothing can be measured"""


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, and what was seen."""

    name: str
    state: State
    seen: str
    remedy: str = ""
    """what to do about it; empty if good"""


def worst(checks: Sequence[Check]) -> State:
    """The state of the machine as a whole."""
    states: tuple[State, ...] = ("good", "poor", "bad")
    return max((check.state for check in checks), key=states.index)
