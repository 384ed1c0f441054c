"""How many examples there are, and that time ends them without a failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from tests.properties import rounds, test_laws
from tests.properties.rounds import ORDINARY, SECONDS, in_rounds, limit, times
from tests.properties.test_laws import LAW_EXAMPLES

HERE = Path(__file__).parent


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in a list of one, that nothing but the test moves on."""
    now = [0.0]
    monkeypatch.setattr(rounds.time, "monotonic", lambda: now[0])
    return now


def law_tests() -> list[Callable[..., None]]:
    return [one for one in vars(test_laws).values() if hasattr(one, "in_rounds")]


def test_make_soak_generates_twenty_thousand_workloads() -> None:
    many = settings.get_profile("soak").max_examples // ORDINARY
    assert many * LAW_EXAMPLES * len(law_tests()) >= 20_000
    assert settings.get_profile("soak").database is not None


def test_make_test_generates_five_hundred_workloads() -> None:
    assert LAW_EXAMPLES * len(law_tests()) >= 500


@pytest.mark.parametrize(
    ("share", "lasting", "tried"), [(0, 3, 1), (2, 3, 1), (9, 3, 3), (8, 3, 2)]
)
def test_a_round_begins_only_if_it_ends_in_time(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, share: float, lasting: float, tried: int
) -> None:
    begun = []

    @in_rounds
    def test() -> None:
        begun.append(clock[0])
        clock[0] += lasting

    monkeypatch.setattr(rounds, "share", lambda: share)
    test()
    assert len(begun) == tried


def test_a_failure_ends_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    @in_rounds
    def test() -> None:
        begun.append(1)
        assert len(begun) < 3

    monkeypatch.setattr(rounds, "share", lambda: 60.0)
    with pytest.raises(AssertionError):
        test()
    assert len(begun) == 3


def test_with_a_time_a_round_has_as_many_examples_as_without_soak(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SECONDS, "60")
    assert times(20).max_examples == 20


@pytest.mark.parametrize("text", ["ten", "-1", "nan", "inf"])
def test_a_time_that_is_none_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECONDS, text)
    with pytest.raises(pytest.UsageError, match=f"a number of seconds, not '{text}'"):
        limit()


def test_the_share_is_part_of_the_workers_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_tests", 8)
    monkeypatch.setenv(SECONDS, "60")
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    assert rounds.share() == 15


def test_two_workers_stop_in_time_and_say_how_many_examples_ran() -> None:
    which = [str(HERE / "test_laws.py"), "-k", "second_pass or same_counts"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *which],
        env={**os.environ, "HYPOTHESIS_PROFILE": "soak", SECONDS: "3"},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    each = re.findall(r"^tests/\S+::\w+: ([\d,]+) workloads in process$", done.stdout, re.MULTILINE)
    counts = [int(one.replace(",", "")) for one in each]
    assert len(counts) == 2
    assert all(count % LAW_EXAMPLES == 0 for count in counts)
    assert f"\n{sum(counts):,} workloads in process\n" in done.stdout
