"""The few numbers of a report that people read first: pure functions of a `Report`."""

from __future__ import annotations

from dataclasses import dataclass

from harness.result import Report, RuleResult, Step

BACKEND = "backend"
"""the owner whose count is always shown, a zero included: it is what the contract is about"""


@dataclass(frozen=True, slots=True)
class StepGroup:
    """Steady steps in a row which all have the same geometry, burst and counts."""

    steps: tuple[int, ...]
    width: int
    height: int
    burst: int
    """frames in each step"""
    by_owner: tuple[tuple[str, int, int], ...]
    """(owner, allocations, bytes) of each single step"""


def steady_steps(report: Report) -> list[Step]:
    """The steps on which nothing may be allocated, of all cycles."""
    return [step for step in report.steps if step.phase == "steady"]


def steady_groups(report: Report) -> list[tuple[tuple[int, ...], list[StepGroup]]]:
    """Cycles that measured alike, with what each of them measured, runs of equal steps as one."""
    cycles: dict[int, list[StepGroup]] = {}
    for step in steady_steps(report):
        _extend(cycles.setdefault(step.cycle, []), step)
    alike: dict[tuple[StepGroup, ...], list[int]] = {}
    for cycle, groups in cycles.items():
        alike.setdefault(tuple(groups), []).append(cycle)
    return [(tuple(numbers), list(groups)) for groups, numbers in alike.items()]


def _extend(groups: list[StepGroup], step: Step) -> None:
    first, last = step.frames
    group = StepGroup(
        (step.index,), step.width, step.height, last - first + 1, _counts_by_owner(step)
    )
    previous = groups[-1] if groups else None
    if previous is not None and _same_but_steps(previous, group):
        steps = (*previous.steps, step.index)
        group = StepGroup(steps, group.width, group.height, group.burst, group.by_owner)
        groups.pop()
    groups.append(group)


def _same_but_steps(one: StepGroup, other: StepGroup) -> bool:
    return (one.width, one.height, one.burst, one.by_owner) == (
        other.width,
        other.height,
        other.burst,
        other.by_owner,
    )


def _counts_by_owner(step: Step) -> tuple[tuple[str, int, int], ...]:
    counts = [
        (owner, count.allocations, count.bytes)
        for owner, count in step.by_owner.items()
        if owner == BACKEND or count.allocations or count.bytes
    ]
    if BACKEND not in step.by_owner:
        counts.append((BACKEND, 0, 0))
    return tuple(sorted(counts, key=lambda count: _backend_first(count[0])))


def _backend_first(owner: str) -> tuple[bool, str]:
    return owner != BACKEND, owner


def steady_allocations(report: Report) -> dict[str, tuple[int, int]]:
    """Least and most allocations of a steady step by owner; empty if there is no steady step."""
    steps = steady_steps(report)
    if not steps:
        return {}
    owners = {BACKEND}.union(*(step.by_owner for step in steps))
    found: dict[str, tuple[int, int]] = {}
    for owner in sorted(owners, key=_backend_first):
        counts = [
            step.by_owner[owner].allocations if owner in step.by_owner else 0 for step in steps
        ]
        if owner == BACKEND or any(counts):
            found[owner] = (min(counts), max(counts))
    return found


def growth_events(report: Report) -> int:
    """Record steps, of all cycles, on which the backend itself took memory."""
    return sum(
        1
        for step in report.steps
        if step.phase == "record" and BACKEND in step.by_owner and step.by_owner[BACKEND].bytes > 0
    )


def leaks(report: Report) -> tuple[int, int] | None:
    """Blocks and bytes that teardown left and should not have; None if that was not judged."""
    for rule in report.rules:
        if rule.rule == "teardown-release" and rule.status != "skipped":
            blocks = sum(finding.count for finding in rule.findings)
            return blocks, sum(finding.bytes for finding in rule.findings)
    return None


def amounts(rule: RuleResult) -> tuple[str, str]:
    """What a rule measured and its limit; a dash where nothing was, which 0 would not say."""
    if rule.status == "skipped":
        return "-", "-"
    return f"{rule.measured:,}", f"{rule.limit:,}"
