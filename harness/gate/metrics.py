"""Counts as a list of single numbers, each with the rule that it belongs to and what it needs.

Of every one of them, less is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.gate.counts import HOLDS, Amount, Counts, Steady
from harness.gate.fingerprint import Needs
from harness.owners import BACKEND, INTERPRETER, RUNTIME
from harness.sites import FIRST_USE, GROWTH, HELD, STEADY

STEADY_RULE = "steady-allocations"
LEVEL = "level"
"""stands for a rule: how many levels do not hold"""

_WITHOUT_KERNELS = frozenset({BACKEND, INTERPRETER, RUNTIME})
"""owners whose buffers are of the same size on every processor"""


class Key(NamedTuple):
    """Which number it is."""

    rule: str
    owner: str
    what: str
    kind: str
    """of the sites behind it"""


class Metric(NamedTuple):
    """One number, and what it depends on where it is more than zero."""

    value: int
    needs: Needs


def metrics(counts: Counts) -> dict[Key, Metric]:
    """Every number; what is not in it is zero."""
    return dict((*_steady(counts), *_amounts(counts), *_others(counts)))


def _steady(counts: Counts) -> Iterator[tuple[Key, Metric]]:
    groups: dict[tuple[str, str], list[Steady]] = {}
    for row in counts.steady:
        groups.setdefault((row.owner, row.step), []).append(row)
    for (owner, step), rows in groups.items():
        steps = sum(row.steps for row in counts.steady if (row.owner, row.step) == (BACKEND, step))
        alike = len(rows) == 1 and rows[0].steps == steps
        for unit in ("allocations", "bytes"):
            values = [getattr(row, unit) for row in rows]
            key = Key(STEADY_RULE, owner, f"{unit} per steady step of {step}", STEADY)
            yield key, Metric(max(values), "kernels")
            if not alike:
                total = sum(row.steps * value for row, value in zip(rows, values, strict=True))
                what = f"{unit} on all {steps:,} steady steps of {step}"
                yield key._replace(what=what), Metric(total, "kernels")


def _amounts(counts: Counts) -> Iterator[tuple[Key, Metric]]:
    amounts: list[tuple[str, str, str, str, Amount]] = [
        ("grow-only", BACKEND, "on record steps", GROWTH, counts.growth),
        *(
            ("grow-only", owner, "held when the last step ended", HELD, amount)
            for owner, amount in counts.held.items()
        ),
        *(
            ("teardown-release", owner, "left by the first cycle", FIRST_USE, amount)
            for owner, amount in counts.first_use.items()
        ),
    ]
    for rule, owner, where, kind, amount in amounts:
        needs: Needs = "versions" if owner in _WITHOUT_KERNELS else "kernels"
        yield Key(rule, owner, f"buffers {where}", kind), Metric(amount.blocks, needs)
        yield Key(rule, owner, f"bytes of buffers {where}", kind), Metric(amount.bytes, needs)
    leaked = ("teardown-release", "anyone")
    yield Key(*leaked, "blocks left by later cycles", ""), Metric(counts.leaked.blocks, "kernels")
    yield Key(*leaked, "bytes left by later cycles", ""), Metric(counts.leaked.bytes, "kernels")


def _others(counts: Counts) -> Iterator[tuple[Key, Metric]]:
    key = Key("grow-only", BACKEND, "growth events: record steps that took memory", GROWTH)
    yield key, Metric(counts.growth_events, "nothing")
    for kind, count in counts.resources.items():
        what = f"{kind.replace('_', ' ')} left at the end"
        yield Key("teardown-resources", BACKEND, what, ""), Metric(count, "versions")
    for rule, measured in counts.rules.items():
        if rule != STEADY_RULE:  # all that it measures is counted above
            key = Key(rule, "anyone", "measured by the rule, which allows 0", "")
            yield key, Metric(measured, "kernels")
    lost = len(HOLDS) - 1 - HOLDS.index(counts.holds)
    yield Key(LEVEL, "anyone", "levels that do not hold", ""), Metric(lost, "nothing")
