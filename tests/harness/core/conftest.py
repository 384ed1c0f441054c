"""What the tests of the measurement core share: a place in a file, and a verified planted fault."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import isolate
from harness.result import Finding, Report, RuleResult
from harness.verify import verify

PLANTED = Path(__file__).parent / "planted.py"
MARKER = f"steadyframe-test-{os.getpid()}-"
"""Begins the name of whatever a planted fault leaves outside of its process."""


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
    """Verify one backend of planted.py."""
    return verify(f"{PLANTED}:{name}", workload, **options)


@pytest.fixture(scope="session", autouse=True)
def marker() -> Iterator[str]:
    """A marker in the environment of the zygote and all below it; what bears it is removed."""
    isolate.shutdown()
    os.environ["STEADYFRAME_MARKER"] = MARKER
    yield MARKER
    isolate.shutdown()
    del os.environ["STEADYFRAME_MARKER"]
    for left in Path("/dev/shm").glob(f"{MARKER}*"):
        left.unlink()


@pytest.fixture
def temp_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder for temporary files, the zygote's and the runs' included."""
    folder = tmp_path / "temp"
    folder.mkdir()
    isolate.shutdown()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    isolate.shutdown()


def marked_processes(marker: str, exclude: Callable[[int], bool] = lambda pid: False) -> list[int]:
    """Every process that has the marker in the environment it was started with."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if marker.encode() in environment and not exclude(int(entry.name)):
            found.append(int(entry.name))
    return found
