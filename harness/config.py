"""Defaults from `[tool.steadyframe]` in the nearest pyproject.toml; the command line wins.

[tool.steadyframe]
owners = ["model=mypackage/nets/*"]   # as --owner; a relative path is one below this file
level = "zero-owned"
cycles = 3
warmup = 8                            # frames
timeout = 60                          # seconds without any progress

[[tool.steadyframe.cases]]            # what `steadyframe gate` measures, see harness.gate.case
target = "mypackage.filters:denoise"
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from glob import escape
from math import isfinite
from pathlib import Path
from typing import Any

from harness import given
from harness.errors import UsageError, meant
from harness.gate.case import Case, read_cases
from harness.result import Level

FILE = "pyproject.toml"
TABLE = "steadyframe"


@dataclass(frozen=True, slots=True)
class Config:
    """What a project says of itself; None where it says nothing."""

    path: Path | None = None
    """the pyproject.toml it was read from"""
    owners: tuple[tuple[str, str], ...] = ()
    """(owner, glob), in the order in which they are tried"""
    level: Level | None = None
    cycles: int | None = None
    warmup: int | None = None
    """frames"""
    timeout: float | None = None
    """seconds"""
    cases: tuple[Case, ...] = ()
    """what the gate measures, in the order in which they are declared"""

    def arguments(self) -> dict[str, Any]:
        """What it says, as arguments of `harness.verify.verify`."""
        said = {name: getattr(self, name) for name in ("level", "cycles", "warmup", "timeout")}
        return {
            "owners": self.owners,
            **{name: value for name, value in said.items() if value is not None},
        }


def load(folder: Path) -> Config:
    """Read the nearest pyproject.toml of this folder or one above it.

    Raises UsageError if there is a mistake in it.
    """
    folder = folder.absolute()
    path = next((at / FILE for at in (folder, *folder.parents) if (at / FILE).is_file()), None)
    return read(path) if path is not None else Config()


def read(path: Path) -> Config:
    """Read one file. Raises UsageError if there is a mistake in it."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from None
    table = document.get("tool", {})
    table = table.get(TABLE, {}) if isinstance(table, dict) else {}
    if not isinstance(table, dict):
        raise UsageError(
            f"{path}: tool.{TABLE} is not a table: write [tool.{TABLE}] above its keys"
        )
    return Config(path=path, **{key: _value(path, key, value) for key, value in table.items()})


def anchored(glob: str, folder: Path) -> str:
    """A glob of an owner with a relative path made one below `folder`.

    Left as it is if it begins with `/`, `*` or `<` (as in `<string>`).
    """
    return glob if glob.startswith(("/", "*", "<")) else f"{escape(str(folder))}/{glob}"


def _value(path: Path, key: str, value: Any) -> Any:
    if key not in _READERS:
        raise UsageError(f"{path}: [tool.{TABLE}] has no key {key!r}: {meant(key, _READERS)}")
    try:
        return _READERS[key](value, path.parent)
    except (ValueError, UsageError) as error:
        raise UsageError(f"{path}: [tool.{TABLE}] {key}: {error}") from None


def _owners(value: Any, folder: Path) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise ValueError(f'{_shown(value)} is not a list of texts such as ["model=mypackage/*"]')
    owners = []
    for entry in value:
        name, equals, glob = entry.partition("=")
        if not equals or not name or not glob:
            raise ValueError(f"{entry!r} is not NAME=GLOB, such as model=mypackage/nets/*")
        owners.append((name, anchored(glob, folder)))
    return tuple(owners)


def _level(value: Any, _: Path) -> Level:
    return given.level(value)


def _at_least(least: int) -> Callable[[Any, Path], int]:
    def whole(value: Any, _: Path) -> int:
        if type(value) is not int or value < least:
            raise ValueError(f"{_shown(value)} is not a whole number of {least} or more")
        return value

    return whole


def _seconds(value: Any, _: Path) -> float:
    if type(value) not in (int, float) or not (value > 0 and isfinite(value)):
        raise ValueError(f"{_shown(value)} is not a number of seconds above 0")
    return float(value)


def _shown(value: Any) -> str:
    """A value on one short line, nearly as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_READERS: dict[str, Callable[[Any, Path], Any]] = {
    "owners": _owners,
    "level": _level,
    "cycles": _at_least(1),
    "warmup": _at_least(0),
    "timeout": _seconds,
    "cases": read_cases,
}
