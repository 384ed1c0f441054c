"""What a block said, and where."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from harness import block
from harness.result import Finding


def findings(caught: pytest.ExceptionInfo[block.ContractError]) -> list[Finding]:
    return [f for report in caught.value.reports for rule in report.rules for f in rule.findings]


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)
