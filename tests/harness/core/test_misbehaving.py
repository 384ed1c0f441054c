"""Backends that misbehave: the right failure, where it happened, and nothing left behind."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import isolate
from harness.errors import UsageError
from harness.result import Report
from harness.verify import verify
from tests.harness.core.helpers import failed, line_of, marked_processes, rule, run_planted

FILE = Path(__file__).parent / "misbehaving.py"


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A temporary folder for the zygote and all runs below it."""
    folder = tmp_path_factory.mktemp("temp")
    with pytest.MonkeyPatch.context() as patch:
        isolate.shutdown()
        patch.setenv("TMPDIR", str(folder))
        patch.setattr("tempfile.tempdir", str(folder))
        patch.setenv("STEADYFRAME_FORKED", str(folder.parent / "forked"))
        yield folder
        isolate.shutdown()


@pytest.fixture(autouse=True)
def nothing_left(clean: Path) -> Iterator[None]:
    """After each test: no folder, no process but the zygote, and that one works."""
    yield
    assert list(clean.iterdir()) == []
    assert len(marked_processes()) <= 1


def run(name: str, timeout: float = 30, **options: Any) -> Report:
    return verify(f"{FILE}:{name}", "32x32@25*12", timeout=timeout, cycles=2, quick=True, **options)


ON_FRAME_4 = {
    "Segfault": ("crashed", "crashed with SIGSEGV"),
    "Abort": ("crashed", "crashed with SIGABRT"),
    "OsExit": ("exited", "exit code 3"),
    "SysExit": ("exited", "sys.exit('enough')"),
    "Raises": ("raised", "ValueError: no [bold]good[/bold]"),
    "RaisesBase": ("raised", "NoException: not an Exception"),
    "Interrupts": ("raised", "KeyboardInterrupt"),
    "UnprintableError": ("raised", "UnprintableFaultError: (it has no text"),
    "UsesUpMemory": ("raised", "Cannot allocate memory"),
    "Killed": ("killed", "killed from outside"),
    "OwnTracker": ("raised", "No more than one Tracker"),
}


@pytest.mark.parametrize("name", ON_FRAME_4)
def test_what_ends_a_run_is_told_with_its_place_and_what_was_measured(name: str) -> None:
    kind, text = ON_FRAME_4[name]
    report = run(name)
    assert report.verdict == "no-verdict"
    assert report.rules == ()
    assert report.failure is not None
    assert (report.failure.kind, report.failure.phase) == (kind, "execute")
    assert (report.failure.cycle, report.failure.frame) == (1, 4)
    assert text in report.failure.text
    assert "(in execute, cycle 1, frame 4)" in report.failure.text
    assert [step.frames for step in report.steps] == [(n, n) for n in range(4)]
    assert report.teardown.first_use_survivors == ()


def test_the_detail_is_the_backends_part_of_the_stack() -> None:
    for name in ("Segfault", "Raises"):
        failure = run(name).failure
        assert failure is not None
        assert str(FILE) in failure.detail
        assert "\n" not in failure.text
        assert "harness/driver.py" not in failure.detail
    failure = run("Raises").failure
    assert failure is not None
    assert failure.detail.endswith("ValueError: no [bold]good[/bold]\nsecond line")
    failure = run("Segfault").failure
    assert failure is not None
    assert f"line {line_of('here: crash', FILE)} in misbehave" in failure.detail


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Loops", "here: loop"),
        ("Deadlocks", "here: deadlock"),
        ("Stopped", None),
        ("ChangesSignalsAndLoops", None),
    ],
)
def test_a_run_that_hangs_is_ended_and_says_where(name: str, place: str | None) -> None:
    report = run(name, timeout=2)
    assert report.failure is not None
    assert (report.failure.kind, report.failure.phase) == ("hung", "execute")
    assert (report.failure.cycle, report.failure.frame) == (1, 4)
    assert "no progress for 2 s" in report.failure.text
    assert len(report.steps) == 4
    if place:
        assert f"line {line_of(place, FILE)} in misbehave" in report.failure.detail


def test_a_thread_that_never_rests_is_named() -> None:
    failure = run("Spins", timeout=2).failure
    assert failure is not None
    assert (failure.kind, failure.frame) == ("not-quiescent", 4)
    assert "spinner" in failure.text


@pytest.mark.parametrize(
    ("name", "phase", "frame"),
    [
        ("RaisesInOpen", "open", -1),
        ("RaisesInExecute", "execute", 0),
        ("RaisesInGetResult", "get_result", 0),
        ("RaisesInFlush", "flush", 11),
        ("RaisesInClose", "close", 11),
    ],
)
def test_the_phase_in_which_it_raised(name: str, phase: str, frame: int) -> None:
    failure = run(name).failure
    assert failure is not None
    assert (failure.kind, failure.phase, failure.frame) == ("raised", phase, frame)
    assert f"line {line_of(f'in {phase}', FILE)}" in failure.detail


@pytest.mark.parametrize("name", ["ClosesAll", "ChangesTrace", "RemovesTrace"])
def test_a_run_that_breaks_the_measurement_is_no_pass(name: str) -> None:
    report = run(name)
    assert report.verdict == "no-verdict"
    assert report.failure is not None
    assert report.failure.kind == "unmeasurable"


def test_a_trace_that_was_closed_is_lost_even_if_all_of_it_would_have_been_written() -> None:
    """memray writes on into the room that it has reserved: whether that is enough is chance."""
    report = run("ClosesAll")
    assert report.failure is not None
    assert "the backend closed the file that the trace is written to" in report.failure.text
    assert (report.failure.phase, report.failure.cycle) == ("close", 1)


@pytest.mark.parametrize(
    "name", ["Prints", "ClosesOutput", "ChangesFolder", "ChangesSignals", "ChangesPath"]
)
def test_what_does_not_touch_the_measurement_does_not_change_the_verdict(name: str) -> None:
    report = run(name)
    assert (report.verdict, report.failure, len(report.steps)) == ("pass", None, 24)


@pytest.mark.parametrize("name", ["Forks", "ForksAndGoesOn", "Daemonizes", "LeavesStopped"])
def test_processes_left_behind_are_found_and_ended(name: str) -> None:
    report = run(name)
    assert "teardown-resources" in failed(report)
    assert "child process" in rule(report, "teardown-resources").findings[0].text
    assert len(report.steps) == 24


def test_a_worker_that_dies_leaves_its_frames_in_flight() -> None:
    report = run("WorkerDies")
    assert report.failure is None
    assert [step.in_flight for step in report.steps[:12]] == list(range(1, 13))
    failure = run("WorkerDiesAndFlushWaits", timeout=2).failure
    assert failure is not None
    assert (failure.kind, failure.phase) == ("hung", "flush")
    assert f"line {line_of('here: flush', FILE)} in flush" in failure.detail


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("number", "returned a int without execute"),
        ("nothing", "returned a NoneType without"),
        ("HalfABackend", "without flush, close"),
        ("not_callable", "it must be callable"),
        ("missing", "has no attribute 'missing'"),
    ],
)
def test_what_is_no_backend_is_bad_usage(target: str, says: str) -> None:
    with pytest.raises(UsageError, match=re.escape(says)):
        run(target)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def f(frame: return frame", "SyntaxError"),
        ("import not_there_at_all", "No module named 'not_there_at_all'"),
        ("raise ValueError('at import')", "ValueError: at import"),
        ("import sys; sys.exit('at import')", "SystemExit: at import"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_file_that_does_not_import_is_bad_usage(tmp_path: Path, source: str, says: str) -> None:
    file = tmp_path / "target.py"
    file.write_text(f"\n{source}\n")
    with pytest.raises(UsageError) as caught:
        verify(f"{file}:f", "32x32@25*2", quick=True)
    assert says in str(caught.value)
    assert f"{file}:2" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_slow_import_is_no_hang_and_an_endless_one_is(tmp_path: Path) -> None:
    file = tmp_path / "slow.py"
    file.write_text("import time; time.sleep(1)\ndef f(frame): return frame\n")
    assert verify(f"{file}:f", "32x32@25*10", quick=True, timeout=5).verdict == "pass"
    failure = verify(f"{file}:f", "32x32@25*10", quick=True, timeout=0.3).failure
    assert failure is not None
    assert (failure.kind, failure.phase) == ("hung", "import")


@pytest.mark.parametrize("name", ["random.py", "queue.py", "numpy.py", "harness.py"])
def test_a_file_may_bear_the_name_of_a_module(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text("def f(frame): return frame\n")
    assert verify(f"{file}:f", "32x32@25*10", quick=True).verdict == "pass"


def test_a_file_finds_the_files_next_to_it(tmp_path: Path) -> None:
    (tmp_path / "sibling_of_target.py").write_text("def f(frame): return frame\n")
    file = tmp_path / "target.py"
    file.write_text("from sibling_of_target import f\n")
    assert verify(f"{file}:f", "32x32@25*10", quick=True).verdict == "pass"


def test_the_zygote_may_be_killed_between_runs_and_in_one(tmp_path: Path) -> None:
    assert run_planted("Slot", "32x32@25*4").failure is None
    (zygote,) = marked_processes()
    os.kill(zygote, 9)
    time.sleep(0.3)
    assert run_planted("Slot", "32x32@25*4").failure is None
    file = tmp_path / "kills.py"
    file.write_text("import os\ndef f(frame): os.kill(os.getppid(), 9)\n")
    report = verify(f"{file}:f", "32x32@25*4", quick=True)
    assert report.failure is not None
    assert report.failure.kind == "killed"
    assert run_planted("Slot", "32x32@25*4").failure is None
