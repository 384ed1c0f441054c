"""The flight recorder, the contract and what a child leaves: small things, exactly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.contract import Contract
from harness.flight import PHASES, FlightRecorder, Position, failure
from harness.spec import Outcome, read_journal, read_outcome, write_outcome


def test_a_recorder_is_read_by_the_other_side(tmp_path: Path) -> None:
    here = FlightRecorder(tmp_path / "progress", create=True)
    assert here.read() == Position("start", 0, -1, 0)
    there = FlightRecorder(tmp_path / "progress")
    there.frames(40)
    for number, phase in enumerate(PHASES):
        there.phase(phase)
        there.cycle(number)
        assert here.read() == Position(phase, number, -1, 40)
        there.frame(number + 1)
        assert here.read() == Position(phase, number, number + 1, 40)
    there.close()
    here.close()


def test_it_outlives_a_process_that_is_killed(tmp_path: Path) -> None:
    here = FlightRecorder(tmp_path / "progress", create=True)
    script = (
        "import os, sys; from pathlib import Path; from harness.flight import FlightRecorder\n"
        "r = FlightRecorder(Path(sys.argv[1])); r.cycle(2); r.phase('flush'); r.frame(7)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "progress")], check=False)
    assert here.read() == Position("flush", 2, 7, 0)
    here.close()


@pytest.mark.parametrize(
    ("at", "where"),
    [
        (Position("import", 0, -1, 0), "(in import)"),
        (Position("open", 1, -1, 9), "(in open, cycle 1)"),
        (Position("execute", 2, 0, 9), "(in execute, cycle 2, frame 0)"),
    ],
)
def test_a_failure_says_where(at: Position, where: str) -> None:
    told = failure("crashed", "it crashed", at, "detail")
    assert told.text == f"it crashed {where}"
    assert (told.phase, told.cycle, told.frame) == at[:3]


@pytest.mark.parametrize(
    ("nireq", "given", "frames"),
    [
        (None, None, 8),
        (0, None, 8),
        (1, None, 8),
        (3, None, 8),
        (4, None, 10),
        (8, None, 18),
        (8, 0, 0),
        (None, 3, 3),
        (100, 5, 5),
    ],
)
def test_warm_up(nireq: int | None, given: int | None, frames: int) -> None:
    assert Contract(warmup=given).warmup_frames(nireq) == frames


def test_whom_a_level_counts() -> None:
    owners = ("backend", "model", "runtime", "interpreter", "decoder", "harness", "source")
    counted = {
        level: [owner for owner in owners if Contract(level).counts(owner)]  # type: ignore[arg-type]
        for level in ("zero-growth", "zero-owned", "zero-malloc")
    }
    assert counted["zero-growth"] == []
    assert counted["zero-owned"] == ["backend"]
    assert counted["zero-malloc"] == ["backend", "model", "runtime", "interpreter", "decoder"]


def test_an_outcome_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_outcome(tmp_path) is None
    outcome = Outcome(workload="8x8@25*3", nireq=4, baseline={"threads": ["a"]}, notes=("n",))
    write_outcome(tmp_path, outcome)
    assert read_outcome(tmp_path) == outcome
    outcome.ended = True
    write_outcome(tmp_path, outcome)
    assert read_outcome(tmp_path) == outcome
    assert [entry.name for entry in tmp_path.iterdir()] == ["outcome.json"]


def test_a_run_without_a_journal_has_none(tmp_path: Path) -> None:
    assert list(read_journal(tmp_path)) == []
    (tmp_path / "journal").write_bytes((7).to_bytes(8, "little") * 2)
    assert list(read_journal(tmp_path)) == [7, 7]
