"""The examination of a machine: each lack is seen, has a remedy, and stops no more than it must."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata, util
from typing import Any

import pytest

from harness import cli, doctor, preconditions
from harness.checks import Check, worst
from harness.doctor import examine
from harness.errors import UsageError


def by_name(checks: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in checks}


def test_this_machine_can_be_measured_on_and_each_check_says_what_it_saw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["doctor", "--no-color"]) == 0
    shown = capsys.readouterr().out
    for words in ("glibc", "torch 2", "verdict pass", "verdict fail", "helpers are forked"):
        assert words in shown
    assert "bad" not in shown


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def run() -> Any:
        raise AssertionError("nothing is to be run where nothing can be measured")

    monkeypatch.setattr(doctor, "_measured", run)


@pytest.mark.usefixtures("no_runs")
def test_system_that_is_refused_has_the_reason_and_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise UsageError("the C library is not glibc: run on a distribution with glibc")

    monkeypatch.setattr(preconditions, "require", refuse)
    check = by_name(list(examine()))["system"]
    assert check.state == "bad"
    assert check.seen.endswith("the C library is not glibc")
    assert check.remedy == "run on a distribution with glibc"
    assert cli.main(["doctor"]) == 3
    assert "Nothing can be measured here" in capsys.readouterr().out


@pytest.mark.usefixtures("no_runs")
def test_missing_package_is_bad_and_a_missing_extra_poor(monkeypatch: pytest.MonkeyPatch) -> None:
    version, find_spec = metadata.version, util.find_spec

    def lacks(absent: str, real: Callable[[str], Any], raised: type[Exception]) -> Any:
        def asked(name: str) -> Any:
            if name == absent:
                raise raised(name)
            return real(name)

        return asked

    monkeypatch.setattr(
        doctor.metadata, "version", lacks("av", version, metadata.PackageNotFoundError)
    )
    monkeypatch.setattr(
        doctor.util, "find_spec", lambda name: None if name == "hypothesis" else find_spec(name)
    )
    checks = by_name(list(examine()))
    assert checks["packages"].seen == "missing: av"
    assert (checks["packages"].state, checks["packages"].remedy) == ("bad", "pip install av")
    assert (checks["hypothesis"].state, checks["hypothesis"].remedy) == (
        "poor",
        "pip install hypothesis",
    )


@pytest.mark.usefixtures("no_runs")
def test_old_python_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0))
    assert by_name(list(examine()))["python"].state == "bad"


def test_state_of_the_whole_is_that_of_its_worst_check() -> None:
    good, poor, bad = (Check("x", state, "") for state in ("good", "poor", "bad"))
    assert worst([good, good]) == "good"
    assert worst([good, poor]) == "poor"
    assert worst([bad, poor, good]) == "bad"


def test_every_lack_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda _: {0})
    monkeypatch.setattr(doctor, "_measured", lambda: iter(()))
    find_spec = util.find_spec
    monkeypatch.setattr(
        doctor.util, "find_spec", lambda name: None if "_native" in name else find_spec(name)
    )
    checks = list(examine())
    poor = {check.name for check in checks if check.state == "poor"}
    assert {"valgrind", "heaptrack", "processors", "planned executor's code"} <= poor
    assert all(bool(check.remedy) is (check.state != "good") for check in checks)
