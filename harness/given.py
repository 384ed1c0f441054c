"""What callers of Python gave, held against what is expected, before anything is run.

Each returns its value in one form. Raises UsageError: what is wrong, and an example of what is not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from harness.errors import UsageError, meant
from harness.result import LEVELS, Level

_LONGEST = 60
"""characters of a value that are shown"""


def owners(value: Any) -> tuple[tuple[str, str], ...]:
    """Entries (owner, glob), before the defaults."""
    pairs: Sequence[Any] = value if _is_list(value) else [None]
    for pair in pairs:
        if not (_is_list(pair) and len(pair) == 2 and all(isinstance(one, str) for one in pair)):
            raise _error("owners", value, 'a list of (owner, glob): [("model", "*/nets/*")]')
    return tuple((owner, glob) for owner, glob in pairs)


def seconds(value: Any) -> float:
    """The time without progress after which a run is ended."""
    if type(value) not in (int, float) or not (value > 0 and isfinite(value)):
        raise _error("timeout", value, "a number of seconds above 0")
    return float(value)


def level(value: Any) -> Level:
    """The level of a contract."""
    for known in LEVELS:
        if value == known:
            return known
    raise UsageError(f"there is no level {_shown(value)}: {meant(str(value), LEVELS)}")


def whole(name: str, value: Any, least: int) -> int:
    """A number of something."""
    if type(value) is not int or value < least:
        raise _error(name, value, f"a whole number of {least} or more")
    return value


def mapping(name: str, value: Any, example: str) -> dict[str, Any]:
    """Values by name; None is none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise _error(name, value, f"a dict by name: {example}")
    return dict(value)


def items(name: str, value: Any, example: str) -> None:
    """Several of something."""
    if not _is_list(value):
        raise _error(name, value, f"a list: {example}")


def path(name: str, value: Any) -> Path:
    """A file's."""
    if not isinstance(value, (str, os.PathLike)):
        raise _error(name, value, "a path")
    return Path(value)


def function(name: str, value: Any, example: str) -> None:
    """What is called later; None is none."""
    if value is not None and not callable(value):
        raise _error(name, value, f"a function to call: {example}")


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _error(name: str, value: Any, expected: str) -> UsageError:
    return UsageError(f"{name} {_shown(value)} is not {expected}")


def _shown(value: Any) -> str:
    shown = ascii(value)
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
