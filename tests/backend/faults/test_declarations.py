"""Every planted fault says what must be said of it, and none says it twice."""

from __future__ import annotations

import inspect
import pkgutil
from pathlib import Path

import pytest

from backend import faults as package
from backend.faults import shipped
from backend.faults.fault import NO_VERDICT, Case, Fault, Green
from harness.rules import RULES
from harness.workload import Workload

FAULTS, GREENS = shipped()
CASES: list[Case] = [*FAULTS, *GREENS]
NAMING = ("steady-allocations", "grow-only", "prompt-release", "teardown-release")
"""rules whose findings always have a line of the backend"""


def name(case: Case) -> str:
    return case.name


def test_there_are_as_many_as_promised() -> None:
    assert len(FAULTS) >= 40
    assert len(GREENS) >= 15
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_each_module_has_one() -> None:
    modules = [found.name for found in pkgutil.iter_modules(package.__path__)]
    helpers = {"fault", "green"}
    planted = {module for module in modules if not module.startswith("_")} - helpers
    assert {fault.name.replace("-", "_") for fault in FAULTS} == planted


def test_each_rule_has_one() -> None:
    assert {fault.rule for fault in FAULTS} == {*RULES, NO_VERDICT}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_each_says_what_it_is_on_a_workload_that_can_be_read(case: Case) -> None:
    assert case.about
    assert str(Workload.parse(case.workload)) == case.workload


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_a_line_that_must_be_named_is_one_of_code(fault: Fault) -> None:
    if fault.rule in NAMING:
        assert fault.line
    if fault.line:
        lines = Path(fault.file).read_text().splitlines()
        for number in (fault.line, *fault.also):
            assert not lines[number - 1].lstrip().startswith("#")
    else:
        assert not fault.also


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_a_failure_has_a_phase_and_a_finding_has_none(fault: Fault) -> None:
    assert bool(fault.phase) is (fault.rule == NO_VERDICT)


@pytest.mark.parametrize("fault", FAULTS, ids=name)
def test_both_forms_are_there_and_differ(fault: Fault) -> None:
    assert fault.faulty is not fault.repaired
    assert inspect.getmodule(fault.faulty).__name__ == fault.faulty.__module__


def test_two_marks_are_one_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "twice.py"
    source.write_text("a = 1  # <- fault\nb = 2  # <- fault\n")
    monkeypatch.setattr(Fault, "file", str(source))
    with pytest.raises(ValueError, match="marked"):
        _ = FAULTS[0].line


def test_the_number_of_a_line_comes_from_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "one.py"
    source.write_text("a = 1  # <- fault too\n\nb = 2  # <- fault\n")
    monkeypatch.setattr(Fault, "file", str(source))
    assert FAULTS[0].line == 3
    assert FAULTS[0].also == (1,)


def test_greens_lie_in_their_own_folder() -> None:
    for green in GREENS:
        assert isinstance(green, Green)
        assert Path(inspect.getfile(green.backend)).parent.name == "green"
