"""A runaway backend ends within its limit of memory, and the report says where."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from harness import isolate, limits
from harness.result import Failure
from harness.spec import RunSpec

FILE = Path(__file__).parent / "runaway.py"
MEBIBYTE = 1 << 20


def run(name: str, instrument: str = "trace", memory_limit: int | None = 300 * MEBIBYTE):
    spec = RunSpec(
        target=f"{FILE}:{name}",
        options={},
        workload="16x16@25*40",
        video=None,
        cycles=1,
        instrument=instrument,
        seed=0,
        patience_s=10,
        sys_path=tuple(sys.path),
        cwd=str(FILE.parent),
        memory_limit=memory_limit,
    )
    with isolate.run(spec, 60, lambda *_: None) as ended:
        return ended


def failure(name: str, instrument: str) -> Failure:
    failed = run(name, instrument).failure
    assert failed is not None
    return failed


@pytest.mark.parametrize("instrument", ["trace", "screen"])
@pytest.mark.parametrize(
    ("name", "phase", "kind", "words"),
    [
        ("InOpen", "open", "raised", "MemoryError"),
        ("InExecute", "execute", "raised", "MemoryError"),
        ("InTorch", "execute", "raised", "can't allocate memory"),
        ("InSmallPieces", "execute", "raised", "MemoryError"),
        ("Aborts", "execute", "killed", "crashed with SIGABRT"),
    ],
)
def test_the_phase_and_the_limit_are_told(
    name: str, phase: str, kind: str, words: str, instrument: str
) -> None:
    failed = failure(name, instrument)
    assert (failed.kind, failed.phase) == (kind, phase)
    assert words in failed.text
    assert "it may take 300 MiB more than at its start" in failed.text


@pytest.mark.parametrize("limit", [None, 64 * MEBIBYTE])
@pytest.mark.parametrize("instrument", ["trace", "screen"])
def test_what_stays_within_the_limit_is_not_touched(limit: int | None, instrument: str) -> None:
    ended = run("Small", instrument, limit)
    assert ended.failure is None
    assert ended.outcome is not None
    assert ended.outcome.ended


def test_the_parent_has_no_limit_of_its_own() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    run("InExecute")
    assert resource.getrlimit(resource.RLIMIT_AS) == before


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (MemoryError(), True),
        (OSError(12, "Cannot allocate memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), True),
        (ValueError("memory of a frame"), False),
    ],
)
def test_what_counts_as_exhaustion(error: Exception, *, is_one: bool) -> None:
    assert limits.is_exhaustion(error) is is_one
