"""A law that is broken says how to replay it, and what `verify` sees of it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.reference import open_identity
from harness.report.json import from_json
from harness.workload import Workload
from tests.properties import laws, telling
from tests.properties.planted import rotation
from tests.properties.rounds import LAWS, ran, times
from tests.properties.telling import BrokenLawError, Subject, hold, verified

IDENTITY = Subject("identity", open_identity, {"mode": "async", "nireq": 2})
ONE = Workload.parse("1x1@25*1")


def broken(*_: Any) -> None:
    raise AssertionError("told to")


def impossible(*_: Any) -> None:
    raise LookupError("nobody there")


def test_what_verify_sees_too_has_its_report() -> None:
    subject = Subject(f"{rotation.__file__}:Faulty", rotation.Faulty, {"model": "identity"})
    turned = Workload.parse("2x1@25*1,1x2@25*1")
    with pytest.raises(BrokenLawError) as raised, verified():
        hold(laws.outputs_are_the_frames, subject, turned)
    (note,) = raised.value.__notes__
    assert note.startswith("verify ends with fail, too; report: ")
    report = from_json(Path(note.split("report: ")[1]).read_text())
    failed = [rule.rule for rule in report.rules if rule.status == "fail"]
    assert (report.workload, report.target, failed) == (str(turned), subject.target, ["output"])


def test_least_workload_is_told_where_hypothesis_stopped_short_of_it() -> None:
    subject = Subject(f"{rotation.__file__}:Faulty", rotation.Faulty, {"model": "identity"})
    with pytest.raises(BrokenLawError) as raised, verified():
        hold(laws.outputs_are_the_frames, subject, Workload.parse("7x3@25*1,3x7@25*2"))
    first, second = raised.value.__notes__
    assert first == "the least workload that breaks it is 2x1@25*1,1x2@25*1"
    assert second.startswith("verify ends with fail, too; report: ")


def test_what_verify_does_not_see_is_said_to_be_so() -> None:
    with pytest.raises(BrokenLawError, match="told to\n  on 1x1@25") as raised, verified():
        hold(broken, IDENTITY, ONE)
    assert str(raised.value).endswith(
        "replay: steadyframe verify identity --workload '1x1@25*1' --arg mode=async --arg nireq=2"
    )
    (note,) = raised.value.__notes__
    assert note.startswith("verify passes on it: ")


def test_an_exception_of_the_backend_breaks_a_law_and_is_not_counted() -> None:
    ran.clear()
    with pytest.raises(BrokenLawError, match=r"LookupError\('nobody there'\)"):
        hold(impossible, IDENTITY, ONE)
    assert not ran[LAWS]
    hold(laws.in_flight_is_bounded, IDENTITY, ONE)
    assert ran[LAWS] == 1


def test_verify_looks_at_the_shrunk_example_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def verify(_: str, workload: Workload, **__: Any) -> SimpleNamespace:
        seen.append(str(workload))
        return SimpleNamespace(verdict="pass")

    def few_frames(_: Any, workload: Workload) -> None:
        assert workload.frame_count < 4

    @verified()
    @times(20)
    @given(st.integers(1, 40))
    def holds(frames: int) -> None:
        hold(few_frames, IDENTITY, Workload.parse(f"1x1@25*{frames}"))

    monkeypatch.setattr(telling, "verify", verify)
    with pytest.raises(BrokenLawError):
        holds()
    assert seen == ["1x1@25*4"]
