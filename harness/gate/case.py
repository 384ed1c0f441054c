"""What a project declares to be measured: `[[tool.steadyframe.cases]]` in its pyproject.toml.

[[tool.steadyframe.cases]]
name = "denoise"                       # default: the target
target = "mypackage.filters:denoise"   # as for verify; a file is one below pyproject.toml
workload = ["constant", "burst"]       # names or text as for verify, or "clip"
options = {mode = ["sync", "async"]}   # to the factory

A list stands for one case of each of its values: these are four, denoise-sync-constant and so on.
Also: video, level, cycles, warmup, seed, stateful, quick, each as the option of verify.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from harness import given
from harness.errors import UsageError, meant
from harness.result import Level
from harness.workload import Workload

CLIP = "clip"
"""the workload that is harness.clip's real H.264 stream"""
MOST_CASES = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,119}")

Scalar = int | float | bool | str


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One backend under one workload. The fields are those of verify; None is its default."""

    name: str
    target: str
    workload: str | None = None
    video: str | None = None
    level: Level | None = None
    cycles: int | None = None
    warmup: int | None = None
    seed: int = 0
    options: dict[str, Scalar] = {}
    stateful: bool = False
    quick: bool = False


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    """One table as it is written, its lists not yet multiplied out."""

    target: str | list[str]
    name: str | None = None
    workload: str | list[str] | None = None
    video: str | None = None
    level: Level | None = None
    cycles: int | None = None
    warmup: int | None = None
    seed: int = 0
    options: dict[str, Scalar | list[Scalar]] = {}
    stateful: bool = False
    quick: bool = False


def read_cases(value: Any, _: Path) -> tuple[Case, ...]:
    """The cases that the tables stand for. Raises ValueError, its text without the place."""
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise ValueError("write each case as a table, [[tool.steadyframe.cases]]")
    cases: dict[str, Case] = {}
    for number, table in enumerate(value, 1):
        where = f"case {number}" + (f" ({table['name']!r})" if "name" in table else "")
        try:
            expanded = list(itertools.islice(_expanded(_entry(table)), MOST_CASES + 1))
        except (ValueError, UsageError) as error:
            raise ValueError(f"{where}: {error}") from None
        for case in expanded:
            if case.name in cases:
                raise ValueError(f"{where}: there are two cases called {case.name!r}: name one")
            cases[case.name] = case
        if len(cases) > MOST_CASES:
            raise ValueError(f"{where}: more than {MOST_CASES:,} cases")
    return tuple(cases.values())


def _entry(table: dict[str, Any]) -> _Entry:
    fields = _Entry.__struct_fields__
    for key in table:
        if key not in fields:
            raise ValueError(f"there is no key {key!r}: {meant(key, fields)}")
    if "level" in table:
        given.level(table["level"])
    try:
        entry = msgspec.convert(table, _Entry)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
    if entry.workload is not None and entry.video is not None:
        raise ValueError("workload and video exclude each other: leave one out")
    for key, least in (("cycles", 1), ("warmup", 0), ("seed", 0)):
        number = getattr(entry, key)
        if number is not None and number < least:
            raise ValueError(f"{key}: {number} is not a whole number of {least} or more")
    return entry


def _expanded(entry: _Entry) -> Iterator[Case]:
    """Every combination of the values, each list's own value in the case's name."""
    many_targets, many_workloads = isinstance(entry.target, list), isinstance(entry.workload, list)
    spread = {key: values for key, values in entry.options.items() if isinstance(values, list)}
    for target, *values, workload in itertools.product(
        _listed(entry.target), *spread.values(), _listed(entry.workload)
    ):
        chosen = dict(zip(spread, values, strict=True))
        words = [] if entry.name is None else [entry.name]
        if many_targets or not words:
            words.append(target)
        words += map(_word, values)
        if many_workloads:
            words.append(str(workload))
        name = "-".join(words)
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} can't name a case, and a file: give it a plain name")
        if workload not in (None, CLIP):
            Workload.named_or_parsed(str(workload))
        yield Case(
            name=name,
            target=target,
            workload=workload,
            video=entry.video,
            level=entry.level,
            cycles=entry.cycles,
            warmup=entry.warmup,
            seed=entry.seed,
            options={**entry.options, **chosen},  # type: ignore[dict-item]
            stateful=entry.stateful,
            quick=entry.quick,
        )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _word(value: Scalar) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
