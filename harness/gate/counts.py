"""What the gate compares: the exact counts of one report, and the lines of code behind them.

Lines are known by their text, not by their number, so that an edit above them changes nothing. What
the interpreter takes on its own account is left out: a mebibyte for small objects of anybody comes
when the one before is full, which depends on all that ran before.
"""

from __future__ import annotations

import linecache
import sysconfig
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec

from harness.owners import BACKEND, INTERPRETER
from harness.report.summary import growth_events, leaks, steady_steps
from harness.result import LEVELS, Finding, Report, RuleResult
from harness.sites import FIRST_USE, GROWTH, HELD

Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Holds: TypeAlias = Literal["none", "zero-growth", "zero-owned", "zero-malloc"]
Key: TypeAlias = tuple[str, str, str, str, str]
"""kind, owner, file, function and text of a line"""
HOLDS: tuple[Holds, ...] = ("none", *LEVELS)
"""from worse to better"""

_MOST_CODE = 120
"""characters of a line's text that are kept"""
_RESOURCES = ("threads", "descriptors", "children", "mappings", "shared_memory")
_ALLOCATION_RULES = frozenset({"steady-allocations", "grow-only"})
"""rules that level zero-growth leaves out"""


class Amount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Blocks and their bytes."""

    blocks: Whole = 0
    bytes: Whole = 0


class Steady(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an owner allocated on each of several steady steps of one kind."""

    step: str
    """geometry and frames of a step, `128x128 x4`"""
    steps: Whole
    owner: str
    allocations: Whole
    """on each"""
    bytes: Whole
    """on each"""


class SiteCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that one line of code counts for."""

    kind: str
    """one of harness.sites; of a violation, as `violation` has it"""
    owner: str
    file: str
    function: str
    code: str
    """the text of the line"""
    blocks: Whole
    bytes: Whole

    @property
    def key(self) -> Key:
        """What the same line has in another measurement, wherever it moved in its function."""
        return self.kind, self.owner, self.file, self.function, self.code


class Counts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """All exact counts of one case, measured in one environment."""

    verdict: Literal["pass", "fail"]
    """on the case's own level"""
    holds: Holds
    """the strictest level that holds: one measurement shows all three"""
    workload: str
    """text of what was fed"""
    rules: dict[str, Whole]
    """what each rule measured that fails"""
    steady: tuple[Steady, ...]
    growth_events: Whole
    """record steps, of all cycles, on which the backend took memory"""
    growth: Amount
    """buffers that the backend made on record steps of the last cycle"""
    held: dict[str, Amount]
    """buffers alive when the last step ended, by owner"""
    first_use: dict[str, Amount]
    """buffers that the first cycle left behind, by owner"""
    leaked: Amount
    """survivors of later cycles"""
    resources: dict[str, Whole]
    """more at the end than at the start, by kind"""
    sites: tuple[SiteCount, ...]
    violations: tuple[SiteCount, ...] = ()
    """what the rules found that fail; baselines of before have none"""


def counts(report: Report, root: Path) -> Counts:
    """The counts of a report with a verdict. Files are told relative to `root` where below it."""
    assert report.verdict != "no-verdict"
    blocks, size = leaks(report) or (0, 0)
    linecache.checkcache()
    return Counts(
        verdict=report.verdict,
        holds=holds(report),
        workload=report.workload,
        rules={rule.rule: rule.measured for rule in report.rules if rule.status == "fail"},
        steady=tuple(_steady(report)),
        growth_events=growth_events(report),
        growth=_by_owner(report.sites[GROWTH]).get(BACKEND, Amount()),
        held=_by_owner(report.sites[HELD]),
        first_use=_by_owner(report.sites[FIRST_USE]),
        leaked=Amount(blocks, size),
        resources=_resources(report),
        sites=tuple(
            site_count(kind, finding, root)
            for kind, findings in report.sites.items()
            for finding in findings
        ),
        violations=violations(report, root),
    )


def violations(report: Report, root: Path) -> tuple[SiteCount, ...]:
    """What the rules found that fail, rule by rule."""
    return tuple(
        site_count(violation(rule, finding), finding, root)
        for rule in report.rules
        if rule.status == "fail"
        for finding in rule.findings
    )


def violation(rule: RuleResult, finding: Finding) -> str:
    """What sort of violation it is: `steady-growth/leak-per-frame`."""
    return f"{rule.rule}/{finding.kind}"


def totals(sites: Iterable[SiteCount]) -> dict[Key, tuple[int, int]]:
    """Blocks and bytes of each line of code, by what it is known by."""
    found: dict[Key, tuple[int, int]] = {}
    for site in sites:
        blocks, size = found.get(site.key, (0, 0))
        found[site.key] = blocks + site.blocks, size + site.bytes
    return found


def holds(report: Report) -> Holds:
    """The strictest level that the measurement shows to hold."""
    failed = {rule.rule for rule in report.rules if rule.status == "fail"}
    if failed - _ALLOCATION_RULES:
        return "none"
    steady = steady_steps(report)
    owners = {
        owner for step in steady for owner, count in step.by_owner.items() if count.allocations
    } - {INTERPRETER}
    regrown = "grow-only" in failed
    judged = any(rule.rule == "grow-only" and rule.status == "pass" for rule in report.rules)
    if regrown or not judged or BACKEND in owners or not steady:
        return "zero-growth"
    return "zero-owned" if owners else "zero-malloc"


def _steady(report: Report) -> list[Steady]:
    seen: Counter[tuple[str, str, int, int]] = Counter()
    for step in steady_steps(report):
        name = f"{step.width}x{step.height} x{step.frames[1] - step.frames[0] + 1}"
        rows = {
            owner: (count.allocations, count.bytes)
            for owner, count in step.by_owner.items()
            if owner != INTERPRETER
        }
        for owner, row in {BACKEND: (0, 0), **rows}.items():
            if owner == BACKEND or any(row):
                seen[name, owner, *row] += 1
    return [
        Steady(step, steps, owner, allocations, size)
        for (step, owner, allocations, size), steps in sorted(seen.items())
    ]


def _by_owner(findings: Iterable[Finding]) -> dict[str, Amount]:
    totals: dict[str, Amount] = {}
    for finding in findings:
        before = totals.get(finding.owner, Amount())
        totals[finding.owner] = Amount(before.blocks + finding.count, before.bytes + finding.bytes)
    return dict(sorted(totals.items()))


def _resources(report: Report) -> dict[str, int]:
    before, after = report.teardown.baseline, report.teardown.after
    more = {kind: len(after.get(kind, ())) - len(before.get(kind, ())) for kind in _RESOURCES}
    return {kind: count for kind, count in more.items() if count > 0}


def site_count(kind: str, finding: Finding, root: Path) -> SiteCount:
    """A finding as it is compared."""
    code = linecache.getline(finding.file, finding.line).strip()[:_MOST_CODE]
    file = portable(finding.file, root)
    return SiteCount(
        kind, finding.owner, file, finding.function, code, finding.count, finding.bytes
    )


def portable(file: str, root: Path) -> str:
    """A file's name that is the same on every machine, as far as can be."""
    paths = sysconfig.get_paths()
    for name in ("purelib", "platlib", "stdlib", "platstdlib"):
        if Path(file).is_relative_to(paths[name]):
            return str(Path(Path(paths[name]).name) / Path(file).relative_to(paths[name]))
    path = Path(file)
    return str(path.relative_to(root)) if path.is_relative_to(root) else file


def same_plan(one: Counts, other: Counts) -> bool:
    """Whether both were fed alike and had the same steady steps, so that they can be compared."""

    def plan(counts: Counts) -> Counter[str]:
        steps: Counter[str] = Counter()
        for row in counts.steady:
            if row.owner == BACKEND:
                steps[row.step] += row.steps
        return steps

    return one.workload == other.workload and plan(one) == plan(other)
