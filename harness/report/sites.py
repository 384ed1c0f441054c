"""What is left after teardown, by site: leaks, and what first use left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from harness.report.findings import place
from harness.result import Finding, Report, Survivors

Sort: TypeAlias = Literal["leak", "first-use"]
_LEAK_RULE = "teardown-release"
_WORDS: dict[Sort, str] = {"leak": "leak", "first-use": "first use"}


@dataclass(frozen=True, slots=True)
class Site:
    """Memory that one line left."""

    sort: Sort
    word: str
    owner: str
    place: str
    function: str
    count: int
    bytes: int
    percent: float
    """of the largest one"""


def sites(report: Report) -> list[Site]:
    """Leaks first, then what first use left, most bytes first in each."""
    found: list[tuple[Sort, Finding | Survivors]] = [
        ("leak", finding)
        for rule in report.rules
        if rule.rule == _LEAK_RULE
        for finding in rule.findings
    ]
    found += [("first-use", survivor) for survivor in report.teardown.first_use_survivors]
    most = max((left.bytes for _, left in found), default=0)
    return [
        Site(
            sort,
            _WORDS[sort],
            left.owner,
            place(left.file, left.line) if left.file else "",
            left.function,
            left.count,
            left.bytes,
            round(100 * left.bytes / most, 1) if most > 0 else 0,
        )
        for sort, left in sorted(found, key=lambda item: (item[0] != "leak", -item[1].bytes))
    ]
