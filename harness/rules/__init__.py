"""The rules: one pure function from a timeline and a contract to a result, one per file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from harness.contract import Contract
from harness.result import RuleResult
from harness.rules import (
    bounded_in_flight,
    error_path,
    grow_only,
    output,
    prompt_release,
    steady_allocations,
    steady_growth,
    teardown_release,
    teardown_resources,
)
from harness.timeline import Timeline

Rule: TypeAlias = Callable[[Timeline, Contract], RuleResult]

RULES: dict[str, Rule] = {
    "steady-allocations": steady_allocations.check,
    "steady-growth": steady_growth.check,
    "grow-only": grow_only.check,
    "bounded-in-flight": bounded_in_flight.check,
    "prompt-release": prompt_release.check,
    "teardown-release": teardown_release.check,
    "teardown-resources": teardown_resources.check,
    "output": output.check,
    "error-path": error_path.check,
}
"""by id, in the order of the report"""
