"""The plugin beside other plugins and options of pytest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.plugin.world import BACKENDS, flat, line_of, run_pytest


def folder_of(path: Path, tests: str) -> Path:
    (path / "backends.py").write_text(BACKENDS)
    (path / "test_it.py").write_text(f"import pytest\nfrom backends import *\n{tests}")
    return path


TWO = """
@pytest.mark.parametrize("open_it", [Sound, Leaky])
def test_both(steady, open_it):
    steady.verify(open_it, **QUICK)

def test_closure(steady):
    steady.verify(lambda: Sound(), **QUICK)
"""


def test_xdist_workers_report_to_the_one_summary_and_the_level_is_the_options(
    tmp_path: Path,
) -> None:
    options = ("-n2", "--steady-report", "out", "--steady-level", "zero-malloc")
    done = run_pytest(folder_of(tmp_path, TWO), *options)
    assert "1 failed, 2 passed" in done.stdout, done.stdout
    assert "violates zero-malloc: steady-allocations" in flat(done.stdout)
    assert "2 of 3 tests hold their contracts; 3 verifications in all" in done.stdout
    assert len(list((tmp_path / "out").glob("*.json"))) == 3


def test_verbose_summary_has_every_test(tmp_path: Path) -> None:
    tests = """
def test_blocks(steady):
    with steady.no_allocations():
        pass
"""
    done = run_pytest(folder_of(tmp_path, tests), "-v")
    assert done.returncode == 0, done.stdout
    section = done.stdout.split(" steadyframe ")[1]
    assert "PASS  " in section
    assert "[test_it.py::test_blocks]" in section


def test_debugger_stops_at_the_tests_own_line(tmp_path: Path) -> None:
    tests = """
def test_leaky(steady):
    here = "in the test"
    with steady.no_allocations():
        bytearray(7000)
"""
    done = run_pytest(folder_of(tmp_path, tests), "--pdb", stdin="p here\nq\n")
    assert "'in the test'" in done.stdout, done.stdout
    assert "-> with steady.no_allocations():" in done.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--steady-level", "zero"), "there is no level 'zero'"),
        (("--steady-report", "test_it.py"), "--steady-report test_it.py: File exists"),
    ],
)
def test_bad_option_fails_the_test_in_one_line(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    tests = """
def test_sound(steady):
    with steady.released():
        pass
    steady.verify(Sound, **QUICK)
"""
    done = run_pytest(folder_of(tmp_path, tests), *options)
    assert done.returncode == 1
    assert f"\nsteadyframe: {says}" in done.stdout, done.stdout


def test_settings_that_are_wrong_fail_the_test_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.steadyframe]\ncyles = 2\n")
    tests = """
def test_sound(steady):
    steady.verify(Sound, **QUICK)
"""
    done = run_pytest(folder_of(tmp_path, tests))
    assert "has no key 'cyles': did you mean 'cycles'?" in done.stdout


def test_workloads_may_be_drawn_by_hypothesis(tmp_path: Path) -> None:
    tests = """
from hypothesis import Phase, given, settings
from harness.strategies import workloads

few = settings(max_examples=2, derandomize=True, phases=[Phase.generate], deadline=None)

@few
@given(workloads(max_frames=6, max_pixels=1024))
def test_sound(steady, workload):
    steady.verify(Sound, workload, quick=True)

@few
@given(workload=workloads(max_frames=6, max_pixels=1024))
def test_leaky(steady, workload):
    steady.verify(Leaky, workload, quick=True)
"""
    done = run_pytest(folder_of(tmp_path, tests))
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    # Hypothesis' own words for what it drew, which have changed before.
    assert re.search(r"^\S[^\n]*: test_leaky\($", done.stdout, re.MULTILINE), done.stdout
    [text] = re.findall(r"^Workload: (.+)$", done.stdout, re.MULTILINE)
    assert text == "1x1@25*1"


def test_block_that_is_never_left_fails_its_test_and_spoils_no_other(tmp_path: Path) -> None:
    tests = """
@pytest.fixture(scope="module")
def wide(steady):
    with steady.no_allocations():
        yield

@pytest.fixture
def half(steady):
    steady.no_allocations().__enter__()
    raise LookupError("in a fixture")

def test_enters(steady):
    block = steady.released()
    block.__enter__()  # and keeps it
    kept.append(block)

def test_in_half(half):
    pass

def test_left(steady):
    with steady.released():
        kept.append(bytearray(8000))

@pytest.mark.parametrize("number", [1, 2])
def test_in_wide(wide, number):
    pass
"""
    folder = folder_of(tmp_path, tests)
    left = line_of((folder / "test_it.py").read_text(), "and keeps it")
    done = run_pytest(folder, "-p", "no:randomly")
    assert f"\nsteadyframe: the block of {folder}/test_it.py:{left} was never left" in done.stdout
    assert "All traceback entries are hidden" not in done.stdout
    ends = re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE)
    # That of the module's scope goes on to its last test, and is judged there.
    assert ends[:4] == ["test_left", "test_enters", "test_in_half", "test_in_half"], done.stdout
    assert set(ends[4:]) <= {"test_in_wide"}


def test_marked_test_that_skips_is_skipped(tmp_path: Path) -> None:
    tests = """
@pytest.mark.steady(workload="8x8@25*12", quick=True)
def test_elsewhere():
    pytest.skip("not on this machine")

class Skipped(Exception):
    pass

@pytest.mark.steady(workload="8x8@25*12", quick=True)
def test_another_of_this_name():
    raise Skipped("not on this machine either")
"""
    done = run_pytest(folder_of(tmp_path, tests), "-rs")
    assert "1 failed, 1 skipped" in done.stdout, done.stdout
    assert "SKIPPED" in done.stdout
    assert done.stdout.count(": not on this machine\n") == 1, done.stdout
