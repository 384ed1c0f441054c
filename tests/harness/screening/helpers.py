"""One planted fault through screening and naming, as verify would do it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from harness import isolate, targets
from harness.contract import Contract
from harness.naming import Named, Namer
from harness.result import Finding
from harness.screening import Screening, find, read
from harness.spec import RunSpec
from harness.timeline import layout

PLANTED = Path(__file__).parent / "planted.py"
CYCLES = 3
FRAMES = "64x64@25*200"


def line_of(fault: str) -> int:
    """Number of the one line that ends in `# fault` and this name."""
    numbers = [
        number
        for number, line in enumerate(PLANTED.read_text().splitlines(), start=1)
        if line.endswith(f"  # fault {fault}")
    ]
    assert len(numbers) == 1, f"{fault}: {numbers}"
    return numbers[0]


def spec_of(
    target: str, workload: str = FRAMES, options: Mapping[str, Any] | None = None
) -> RunSpec:
    """A screening run of a short name, or of a class of planted.py."""
    return RunSpec(
        target=f"{PLANTED}:{target}" if target[0].isupper() else targets.resolve(target),
        options=dict(options or {}),
        workload=workload,
        video=None,
        cycles=CYCLES,
        instrument="screen",
        seed=0,
        patience_s=30,
        sys_path=tuple(sys.path),
        cwd=os.getcwd(),
    )


def run(spec: RunSpec) -> AbstractContextManager[isolate.Ended]:
    """One child, unwatched."""
    return isolate.run(spec, 60, lambda *_: None)


def screened(spec: RunSpec) -> Screening:
    """The screening of a run that comes to its end."""
    with run(spec) as ended:
        assert ended.failure is None, ended.failure
        assert ended.outcome is not None
        return read(ended.folder, Contract().steps(ended.outcome), spec.cycles)


def named(spec: RunSpec, *patterns: str, threaded: bool = False) -> list[Named]:
    """What grows, and what causes it."""
    screening = screened(spec)
    plan = Contract().steps if threaded else None
    namer = Namer(spec, layout(spec.cycles, screening.steps), (), run, plan)
    return [namer.name(g) for g in find(screening) if not patterns or g.pattern in patterns]


def places(found: list[Named]) -> set[tuple[str, int]]:
    """(name of the file, line) of all findings."""
    return {(Path(finding.file).name, finding.line) for finding in findings(found)}


def findings(found: list[Named]) -> list[Finding]:
    """All findings of several growths."""
    return [finding for one in found for finding in one.findings]
