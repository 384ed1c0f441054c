"""The JSON report, schema 1: written so that the same report is the same text, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.result import Report

SCHEMA = 1
MADE_BY = "`steadyframe verify TARGET --json FILE` writes a report"
LARGEST = 1 << 30
"""bytes of a file that is read: no run of a length that can be judged comes near it"""
_OTHERS = {
    "environments": "a baseline of `steadyframe gate`",
    "results": "the result of `steadyframe gate`",
    "operations": "a report of `steadyframe inject`",
    "watched": "a report of `steadyframe watch`",
}
"""what else this project writes as JSON, by a field that no report has"""


class _Version(msgspec.Struct):
    """The one field that every schema has: read first, so that another schema is told by name."""

    schema: int


def to_json(report: Report) -> str:
    """The report as indented JSON text, its fields in the order of the schema."""
    try:
        compact = msgspec.json.encode(report, order="deterministic")
    except UnicodeEncodeError:
        # A file name or a stderr that is not UTF-8 reaches us with lone surrogates in it.
        compact = msgspec.json.encode(
            _encodable(msgspec.to_builtins(report)), order="deterministic"
        )
    return msgspec.json.format(compact, indent=2).decode() + "\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(item) for item in value]
    return value


def from_json(text: str | bytes) -> Report:
    """The report that `to_json` wrote; a UsageError for anything else."""
    try:
        schema = msgspec.json.decode(text, type=_Version).schema
        if schema != SCHEMA:
            raise UsageError(
                f"the report has schema {schema}, this steadyframe reads schema {SCHEMA}: "
                "measure again, or use the version that wrote it"
            )
        return msgspec.json.decode(text, type=Report)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        what = _what(text)
        raise UsageError(
            f"not a steadyframe report{f', but {what}' if what else f' ({error})'}: {MADE_BY}"
        ) from error


def _what(text: str | bytes) -> str | None:
    """What a file is instead of a report; None if that can't be told."""
    if not text.strip():
        return "an empty file"
    if text.lstrip()[:1] in ("<", b"<"):
        return "a page of HTML"
    try:
        fields = msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return next((what for field, what in _OTHERS.items() if field in fields), None)


def load(path: Path) -> Report:
    """The report in a file; a UsageError that names the file if there is none that can be read."""
    try:
        return from_json(_read(path))
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        # A pipe or a device would block, or never end.
        if not path.is_file():
            what = "a folder" if path.is_dir() else "no plain file"
            raise UsageError(f"{what}, not a report: {MADE_BY}")
        if size > LARGEST:
            raise UsageError(f"more than {LARGEST:,} bytes, which no report has")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot be read ({reason}): {MADE_BY}") from error
