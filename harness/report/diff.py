"""Two runs compared: what became better and what worse, by rule, by owner and by site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias

from harness.report.findings import place
from harness.report.summary import growth_events, steady_steps
from harness.result import Finding, Report, RuleResult, Step

Direction: TypeAlias = Literal["worse", "better", "changed"]
"""changed: neither, such as one more rule that was skipped, or fewer blocks of more bytes"""
_ORDER = {"worse": 0, "better": 1, "changed": 2}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is not as it was."""

    name: str
    """of the rule or owner, or the place of a site; foreign text as it came"""
    what: str
    """what was counted there"""
    before: str
    after: str
    direction: Direction


@dataclass(frozen=True, slots=True)
class Diff:
    """All that changed from one report to another, the worse first in each part."""

    before: Report
    after: Report
    rules: tuple[Change, ...]
    owners: tuple[Change, ...]
    sites: tuple[Change, ...]
    cautions: tuple[str, ...]
    """what was not the same about the two runs, so that the numbers may differ for it"""

    @property
    def parts(self) -> tuple[tuple[str, tuple[Change, ...]], ...]:
        """The changes by what they are changes of."""
        return (("rule", self.rules), ("owner", self.owners), ("site", self.sites))

    def count(self, direction: Direction) -> int:
        """How many changes are of one direction."""
        return sum(change.direction == direction for _, part in self.parts for change in part)


def diff(before: Report, after: Report) -> Diff:
    """What changed from `before` to `after`."""
    return Diff(
        before,
        after,
        _sorted(_rules(before, after)),
        _sorted(_owners(before, after)),
        _sorted(_sites(before, after)),
        tuple(_cautions(before, after)),
    )


def headline(found: Diff) -> str:
    """The comparison in one sentence."""
    if not any(part for _, part in found.parts):
        return "Nothing changed: every count is the same."
    counts = [
        f"{number:,} {word}"
        for direction, word in (("worse", "worse"), ("better", "better"), ("changed", "otherwise"))
        if (number := found.count(direction))  # type: ignore[arg-type]
    ]
    return f"Changed: {', '.join(counts)}."


def _sorted(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: _ORDER[change.direction]))


def _rules(before: Report, after: Report) -> Iterator[Change]:
    olds, news = ({rule.rule: rule for rule in report.rules} for report in (before, after))
    for name in dict.fromkeys((*news, *olds)):
        old, new = olds.get(name), news.get(name)
        if old is None or new is None or old.status != new.status or old.measured != new.measured:
            yield Change(name, "verdict, measured", _said(old), _said(new), _turn(old, new))


def _said(rule: RuleResult | None) -> str:
    if rule is None:
        return "not there"
    return rule.status if rule.status == "skipped" else f"{rule.status}, {rule.measured:,}"


def _turn(old: RuleResult | None, new: RuleResult | None) -> Direction:
    was, now = (rule is not None and rule.status == "fail" for rule in (old, new))
    if was != now:
        return "worse" if now else "better"
    if not now or old is None or new is None:
        return "changed"
    return _compared(old.measured, new.measured)


def _compared(old: int, new: int) -> Direction:
    return "worse" if new > old else "better"


def _owners(before: Report, after: Report) -> Iterator[Change]:
    olds, news = _by_owner(before), _by_owner(after)
    for key in sorted({*olds, *news}):
        old, new = olds.get(key, 0), news.get(key, 0)
        if old != new:
            yield Change(*key, f"{old:,}", f"{new:,}", _compared(old, new))
    old, new = growth_events(before), growth_events(after)
    if old != new:
        yield Change("backend", "growth events", f"{old:,}", f"{new:,}", _compared(old, new))


def _by_owner(report: Report) -> dict[tuple[str, str], int]:
    """By (owner, what was counted): the most on any steady step, and of live bytes at any time."""
    most: dict[tuple[str, str], int] = defaultdict(int)
    for step in steady_steps(report):
        for owner, count in step.by_owner.items():
            _raise(most, (owner, "allocations of a steady step"), count.allocations)
            _raise(most, (owner, "bytes of a steady step"), count.bytes)
    for step in report.steps:
        for owner, live in _live(step):
            _raise(most, (owner, "live bytes at most"), live)
    return most


def _live(step: Step) -> Iterator[tuple[str, int]]:
    yield from step.live_by_owner.items()
    yield "all owners", step.live_bytes


def _raise(most: dict[tuple[str, str], int], key: tuple[str, str], value: int) -> None:
    most[key] = max(most[key], value)


_Key: TypeAlias = tuple[str, str, str, str, str]
"""rule, kind, owner, file, function: what is still the same when lines are added above"""


def _sites(before: Report, after: Report) -> Iterator[Change]:
    olds, news = _by_site(before), _by_site(after)
    for key in dict.fromkeys((*news, *olds)):
        for old, new in _paired(olds.get(key, []), news.get(key, [])):
            if old is None or new is None or (old.count, old.bytes) != (new.count, new.bytes):
                yield _site(key, old, new)


def _by_site(report: Report) -> dict[_Key, list[Finding]]:
    sites: dict[_Key, list[Finding]] = defaultdict(list)
    for rule in report.rules:
        for f in rule.findings:
            sites[rule.rule, f.kind, f.owner, f.file, f.function].append(f)
    return sites


def _paired(
    olds: list[Finding], news: list[Finding]
) -> Iterator[tuple[Finding | None, Finding | None]]:
    """Findings of one function: those on the same line, then the others from top to bottom."""
    by_line = {finding.line: finding for finding in olds}
    rest = []
    for new in sorted(news, key=lambda finding: finding.line):
        old = by_line.pop(new.line, None)
        if old is None:
            rest.append(new)
        else:
            yield old, new
    yield from zip_longest(sorted(by_line.values(), key=lambda finding: finding.line), rest)


def _site(key: _Key, old: Finding | None, new: Finding | None) -> Change:
    rule, kind, owner, file, function = key
    seen = new or old
    assert seen is not None
    where = f"{place(file, seen.line)} in {function}" if file else function
    return Change(
        where,
        f"{rule} ({kind}), {owner}" if kind else f"{rule}, {owner}",
        _amount(old),
        _amount(new),
        _moved(old, new),
    )


def _amount(finding: Finding | None) -> str:
    if finding is None:
        return "none"
    return f"{finding.count:,}" + (f" / {finding.bytes:,} bytes" if finding.bytes else "")


def _moved(old: Finding | None, new: Finding | None) -> Direction:
    if old is None or new is None:
        return "worse" if old is None else "better"
    counts = (new.count > old.count) - (new.count < old.count)
    sizes = (new.bytes > old.bytes) - (new.bytes < old.bytes)
    if counts * sizes < 0:
        return "changed"
    return "worse" if counts + sizes > 0 else "better"


def _cautions(before: Report, after: Report) -> Iterator[str]:
    for name in ("target", "workload", "level", "seed", "cycles"):
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"{name}: {old} before, {new} after"
    for key in dict.fromkeys((*before.environment, *after.environment)):
        old, new = before.environment.get(key, "none"), after.environment.get(key, "none")
        if old != new:
            yield f"environment, {key}: {old} before, {new} after"
