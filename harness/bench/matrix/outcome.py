"""What a tool has made of a fault: what it said of the faulty backend, beside the repaired one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.bench.tools.tool import Said
from harness.selftest import Planted

Outcome = Literal["found", "missed", "cannot tell", "no run", "missing"]
"""found        it says something of the faulty backend, and nothing of the repaired one
missed       it says nothing of the faulty one
cannot tell  it says something of the repaired one as well
no run       the backend crashed, raised or hung, and the tool came to no answer
missing      the tool is not installed"""


@dataclass(frozen=True)
class Judged:
    """An outcome, whether the fault's own line was named, and what was said."""

    outcome: Outcome
    at_line: bool = False
    words: str = ""


def judge(fault: Planted, faulty: Said, repaired: Sequence[Said]) -> Judged:
    """Hold what was said of the faulty backend against all runs of the repaired one.

    A total is worse if it exceeds those of every such run by more than they differ.
    """
    if broken := next((said.failed for said in repaired if said.failed), ""):
        return Judged("no run", words=f"the repaired one {broken}")
    accused = next((said.alarm for said in repaired if said.alarm), "")
    if faulty.alarm:
        if accused:
            return Judged("cannot tell", words=f"also of the repaired one: {accused}")
        return Judged("found", _named(fault, faulty, repaired), faulty.alarm)
    totals = [said.totals for said in repaired]
    worse = [key for key, total in faulty.totals.items() if total > _bound(totals, key)]
    if worse:
        words = ", ".join(_rise(faulty.totals, totals, key) for key in worse)
        return Judged("found", _named(fault, faulty, repaired), words)
    if faulty.failed:
        return Judged("no run", words=faulty.failed)
    higher = [
        key for key, total in faulty.totals.items() if total > min(_values(totals, key), default=0)
    ]
    if higher:
        return Judged("cannot tell", words=f"two runs of the repaired one differ in {higher[0]}")
    return Judged("missed", words=f"only of the repaired one: {accused}" if accused else "")


def _values(totals: Iterable[Mapping[str, int]], key: str) -> list[int]:
    return [each.get(key, 0) for each in totals]


def _bound(totals: Iterable[Mapping[str, int]], key: str) -> int:
    values = _values(totals, key)
    return 2 * max(values) - min(values)


def _rise(faulty: Mapping[str, int], totals: Iterable[Mapping[str, int]], key: str) -> str:
    return f"{key} +{faulty[key] - max(_values(totals, key)):,}"


def _named(fault: Planted, faulty: Said, repaired: Sequence[Said]) -> bool:
    """Whether the fault's line was named, for more than is said of any of the repaired one's."""
    said = max((total for each in repaired for total in each.totals.values()), default=0)
    return faulty.places.get((fault.file, fault.line), 0) > said
