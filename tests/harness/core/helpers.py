"""What the tests of the measurement core share: a place in a file, a verified planted fault."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from harness.result import Finding, Report, RuleResult
from harness.verify import verify

PLANTED = Path(__file__).parent / "planted.py"
PLANTED_TEARDOWN = PLANTED.with_name("planted_teardown.py")
PLANTED_QUEUES = PLANTED.with_name("planted_queues.py")
MARKER = f"steadyframe-test-{os.getpid()}-"
"""Begins the name of whatever a planted fault leaves outside of its process."""


def file_of(name: str) -> Path:
    """The one file of planted backends that has this one."""
    wanted = re.compile(rf"^class {name}\b", re.MULTILINE)
    files = (PLANTED, PLANTED_TEARDOWN, PLANTED_QUEUES)
    found = [file for file in files if wanted.search(file.read_text())]
    assert len(found) == 1, f"{name}: {found}"
    return found[0]


def line_of(comment: str, file: Path = PLANTED) -> int:
    """Number of the one line that ends in this comment."""
    numbers = [
        number
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        if line.endswith(f"  # {comment}")
    ]
    assert len(numbers) == 1, f"{comment}: {numbers}"
    return numbers[0]


def rule(report: Report, name: str) -> RuleResult:
    """What one rule said."""
    return next(result for result in report.rules if result.rule == name)


def failed(report: Report) -> list[str]:
    """The rules that failed."""
    return [result.rule for result in report.rules if result.status == "fail"]


def places(findings: tuple[Finding, ...]) -> list[tuple[str, str, int]]:
    """(owner, name of the file, line) of each finding."""
    return [(finding.owner, Path(finding.file).name, finding.line) for finding in findings]


def run_planted(name: str, workload: str = "64x64@25*20", **options: Any) -> Report:
    """Verify one planted backend, by its traced run alone unless more is asked for."""
    return verify(f"{file_of(name)}:{name}", workload, **{"quick": True, **options})


def marked_processes() -> list[int]:
    """Every process that was started below these tests' zygote, the zygote included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if MARKER.encode() in environment:
                found.append(int(entry.name))
    return found
