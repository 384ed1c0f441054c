"""What is left behind in each cycle is named, with its kind; what is given back is not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import isolate
from harness.result import Finding, Report
from harness.verify import verify

FILE = Path(__file__).parent / "leaving.py"
MARKER = f"ledger-{os.getpid()}-"

LEFT = {
    "Thread": ("thread", "Thread-N (run) (Thread-"),
    "Executor": ("thread", "decode_N (decode_0"),
    "Descriptor": ("file-descriptor", "leaving.py (descriptor "),
    "Pipe": ("file-descriptor", "pipe (descriptor "),
    "MemfdOpen": ("memfd", "/memfd:frames (deleted) (descriptor "),
    "MemfdMapped": ("memfd-mapping", "/memfd:frames (deleted) (at "),
    "MappedFile": ("mapped-file", "leaving.py (at "),
    "Untraced": ("anonymous-mapping", "262,144 bytes of anonymous memory"),
    "Executable": ("executable-mapping", "8,192 bytes of executable memory without a file"),
    "Segment": ("shared-memory-segment", f"/dev/shm/{MARKER}"),
    "SegmentByHand": ("shared-memory-segment", f"/dev/shm/{MARKER}"),
    "Child": ("child-process", ": sleep 12345, process "),
    "Fork": ("child-process", ": a fork of the run, process "),
}
"""kind and words of the finding"""


@pytest.fixture(scope="module", autouse=True)
def marker() -> Iterator[None]:
    """What is planted in /dev/shm bears a name by which it is removed."""
    isolate.shutdown()
    os.environ["STEADYFRAME_LEDGER"] = MARKER
    yield
    isolate.shutdown()
    del os.environ["STEADYFRAME_LEDGER"]
    for left in Path("/dev/shm").glob(f"{MARKER}*"):
        left.unlink()


def run(name: str) -> Report:
    return verify(f"{FILE}:{name}", "16x16@25*3", quick=True)


def left_behind(report: Report, rule: str = "teardown-resources") -> tuple[Finding, ...]:
    assert report.failure is None
    return next(result for result in report.rules if result.rule == rule).findings


def line_of(name: str) -> int:
    lines = FILE.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# here: {name}"))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_is_named_by_its_kind(name: str) -> None:
    kind, words = LEFT[name]
    findings = [finding for finding in left_behind(run(name)) if finding.kind == kind]
    assert len(findings) == 1
    assert words in findings[0].text
    counts = {"Untraced": 1, "Executable": 1, "Pipe": 4}
    assert findings[0].count == counts.get(name, 2)


def test_the_repaired_twins_leave_nothing() -> None:
    report = run("Repaired")
    assert left_behind(report) == ()
    assert left_behind(report, "teardown-release") == ()


def test_a_thread_is_found_at_the_line_where_it_waits() -> None:
    (finding,) = left_behind(run("Thread"))
    assert (Path(finding.file).name, finding.line) == (FILE.name, line_of("Thread"))
    assert finding.text.endswith(f":{finding.line} in run")


def test_a_thread_of_an_executor_is_found_at_the_library_that_runs_it() -> None:
    (finding,) = left_behind(run("Executor"))
    assert (Path(finding.file).name, finding.function) == ("thread.py", "_worker")


def test_anonymous_memory_whose_call_is_traced_is_named_by_its_line() -> None:
    report = run("Anonymous")
    assert left_behind(report) == ()
    findings = left_behind(report, "teardown-release")
    assert line_of("Anonymous") in [finding.line for finding in findings]


@pytest.mark.parametrize("name", ["Once", "Replaced"])
def test_what_is_made_once_or_replaced_is_not_held_against_the_backend(name: str) -> None:
    assert left_behind(run(name)) == ()
