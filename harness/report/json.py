"""The JSON report, schema 1: written so that the same report is the same text, and read back."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.errors import UsageError
from harness.result import Report

SCHEMA = 1


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
        raise UsageError(f"not a steadyframe report ({error}): measure again") from error
