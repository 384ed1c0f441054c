"""The baseline: a file of exact counts, tracked by git, that the gate holds measurements against.

It is JSON with one block for each case and one line for each thing counted, sorted, so that a diff
shows what changed and no more. A case may hold the counts of several environments.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.gate.case import Case
from harness.gate.counts import Counts
from harness.gate.fingerprint import Fingerprint
from harness.report.files import locked, write

SCHEMA = 1
LARGEST = 64 << 20
"""bytes; no baseline that a person reads is larger"""
_WIDTH = 150
"""characters within which a list or table of plain values is one line"""


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The counts of one case in one environment."""

    environment: str
    """key of Baseline.environments"""
    counts: Counts


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One case, and all that was measured of it."""

    case: Case
    measured: tuple[Measured, ...]


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of the file."""

    schema: int = SCHEMA
    environments: dict[str, Fingerprint] = {}
    cases: dict[str, Entry] = {}

    def records(self, name: str) -> list[tuple[Fingerprint, Counts]]:
        """What was measured of a case, where."""
        entry = self.cases.get(name)
        return [
            (self.environments[measured.environment], measured.counts)
            for measured in (entry.measured if entry else ())
        ]


class _Version(msgspec.Struct):
    schema: int


def load(path: Path, command: str = "steadyframe gate --update") -> Baseline | None:
    """Read a baseline, None if there is no file. Raises UsageError for what is none.

    `command` is what records it anew.
    """
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise UsageError(f"{path} is no file: name the one that the baseline is in")
        if path.stat().st_size > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST >> 20} MiB: that is no baseline")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{path} can't be read ({reason})") from None
    try:
        schema = msgspec.json.decode(data, type=_Version).schema
        if schema != SCHEMA:
            age = "an older" if schema < SCHEMA else "a newer"
            raise UsageError(
                f"{path} has schema {schema}, of {age} steadyframe; this one reads {SCHEMA}: "
                f"remove it and record anew with `{command}`, or use that version"
            )
        baseline = msgspec.json.decode(data, type=Baseline)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UsageError(_damaged(path, str(error), command)) from None
    for name, entry in baseline.cases.items():
        unknown = {m.environment for m in entry.measured} - set(baseline.environments)
        if unknown or not entry.measured or entry.case.name != name:
            what = f"no environment {min(unknown)!r}" if unknown else "a case without its counts"
            raise UsageError(_damaged(path, f"{what}: {name!r}", command))
    return baseline


def _damaged(path: Path, why: str, command: str) -> str:
    return (
        f"{path} is not a baseline ({why}): take it from git again, "
        f"or remove it and record anew with `{command}`"
    )


def updated(
    baseline: Baseline | None,
    measured: Iterable[tuple[Case, Fingerprint, Counts]],
    declared: set[str],
) -> Baseline:
    """The baseline with these counts in it, and without cases that are declared no more.

    What other environments measured of a case stays while the case itself is the same.
    """
    old = baseline or Baseline()
    environments = dict(old.environments)
    cases = {name: entry for name, entry in old.cases.items() if name in declared}
    for case, here, counts in measured:
        entry = cases.get(case.name)
        kept = [
            record
            for record in (entry.measured if entry and entry.case == case else ())
            if environments[record.environment] != here
        ]
        # Another processor that counts the same needs no record of its own.
        if not any(
            record.counts == counts and environments[record.environment].meets(here, "kernels")
            for record in kept
        ):
            kept.append(Measured(_key(environments, here), counts))
        cases[case.name] = Entry(case, tuple(sorted(kept, key=lambda one: one.environment)))
    used = {record.environment for entry in cases.values() for record in entry.measured}
    return Baseline(
        SCHEMA,
        {key: environments[key] for key in sorted(used)},
        dict(sorted(cases.items())),
    )


def _key(environments: dict[str, Fingerprint], here: Fingerprint) -> str:
    """The name of this environment: as it is, or the next free one."""
    for key, known in environments.items():
        if known == here:
            return key
    number = next(n for n in range(1, len(environments) + 2) if f"env-{n}" not in environments)
    environments[f"env-{number}"] = here
    return f"env-{number}"


def record(
    path: Path, measured: Iterable[tuple[Case, Fingerprint, Counts]], declared: set[str]
) -> None:
    """Put these counts into the file as it is by now: another gate may have recorded meanwhile.

    Raises UsageError.
    """
    with locked(path.parent):
        save(path, updated(load(path), measured, declared))


def save(path: Path, baseline: Baseline) -> None:
    """Write it, whole or not at all. Raises UsageError."""
    write(path, to_text(baseline))


def to_text(baseline: Baseline) -> str:
    """The file's text: the same for the same counts."""
    return _laid_out(msgspec.to_builtins(baseline), "") + "\n"


def _laid_out(value: Any, indent: str) -> str:
    """JSON, in which a list or table of plain values is one line if it is not too long."""
    parts: Iterable[tuple[str, Any]]
    if isinstance(value, dict):
        parts = [(f"{json.dumps(key, ensure_ascii=False)}: ", item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        parts = [("", item) for item in value]
    else:
        parts = []
    line = json.dumps(value, ensure_ascii=False)
    nested = any(isinstance(item, (dict, list, tuple)) and item for _, item in parts)
    if not parts or (not nested and len(indent) + len(line) <= _WIDTH):
        return line
    inner = indent + "  "
    lines = ",\n".join(f"{inner}{name}{_laid_out(item, inner)}" for name, item in parts)
    return f"{line[0]}\n{lines}\n{indent}{line[-1]}"
