"""What the gate says of each case, as data."""

from __future__ import annotations

from typing import Literal

import msgspec

from harness.errors import UsageError

SCHEMA = 1
FILE = "gate.json"
"""in the folder of --output: what `steadyframe report --merge` reads"""

Status = Literal[
    "same", "recorded", "better", "unknown", "no-verdict", "stale", "missing", "changed", "worse"
]
"""from good to bad"""

EXIT: dict[Status, int] = {
    "same": 0,
    "recorded": 0,
    "better": 0,
    "unknown": 3,
    "no-verdict": 3,
    "stale": 1,
    "missing": 1,
    "changed": 1,
    "worse": 1,
}


class Difference(msgspec.Struct, frozen=True):
    """One count that is not what it was."""

    rule: str
    owner: str
    what: str
    """what is counted, and on which steps"""
    before: int
    after: int
    known: bool = True
    """false where nothing recorded can be expected here"""
    kind: str = ""
    """the kind of site behind it, as in harness.sites; empty where none is"""

    @property
    def differs(self) -> bool:
        """Whether it is another number, though perhaps of another environment."""
        return self.after != self.before

    @property
    def worse(self) -> bool:
        """Whether it is a regression."""
        return self.known and self.after > self.before


class SiteChange(msgspec.Struct, frozen=True):
    """One line of code that counts for another number than it did."""

    kind: str
    owner: str
    place: str
    """`file:line in function`"""
    code: str
    frames: str
    before: tuple[int, int]
    """blocks, bytes"""
    after: tuple[int, int]
    stack: tuple[str, ...] = ()
    """innermost first"""


class CaseResult(msgspec.Struct, frozen=True):
    """One case."""

    name: str
    status: Status
    differences: tuple[Difference, ...] = ()
    sites: tuple[SiteChange, ...] = ()
    why: tuple[str, ...] = ()
    """sentences"""
    command: str = ""
    """what to run to look closer, or to mend it"""
    holds: str = ""
    """the strictest level that was seen to hold"""
    recorded: int = 0
    """of a case that is worse, violations that the baseline has as they are"""


class GateResult(msgspec.Struct, frozen=True):
    """A run of the gate, or of one shard of it."""

    results: tuple[CaseResult, ...]
    strict: bool = False
    shard: tuple[int, int] = (1, 1)
    """this one, from 1, of so many"""
    baseline: str = ""
    schema: int = SCHEMA

    @property
    def exit_code(self) -> int:
        """1 for what is worse than recorded, or not recorded; 3 for what can't be told; else 0."""
        codes = {EXIT[result.status] for result in self.results}
        if self.strict and any(result.status == "better" for result in self.results):
            codes.add(1)
        return next((code for code in (1, 3) if code in codes), 0)


def decode(data: bytes) -> GateResult:
    """Read what a gate wrote. Raises UsageError."""
    try:
        result = msgspec.json.decode(data, type=GateResult)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UsageError(f"not the result of a gate ({error})") from None
    if result.schema != SCHEMA:
        raise UsageError(f"it has schema {result.schema}, this steadyframe reads {SCHEMA}")
    return result
