"""What takes minutes: many runs of one case, and one run of many frames."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from harness.verify import verify
from harness.verify_soak import verify_soak

pytestmark = pytest.mark.soak

RUNS = 100
FRAMES = 100_000


@contextmanager
def both_cores_busy() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def exact(options: dict[str, Any]) -> bytes:
    """All that is counted in a run, the verdict of every rule, and what else is said."""
    report = verify("reference", "96x64@100*40,160x120@100*40,96x64@25*20", options=options)
    rules = [(rule.rule, rule.status, rule.measured) for rule in report.rules]
    return msgspec.json.encode((report.verdict, rules, report.steps, report.notes))


@pytest.mark.parametrize("options", [{}, {"mode": "async", "nireq": 4}], ids=["sync", "async"])
def test_a_hundred_runs_half_of_them_under_load_count_the_same(options: dict[str, Any]) -> None:
    first = exact(options)
    for number in range(RUNS // 2 - 1):
        assert exact(options) == first, f"run {number} at rest"
    with both_cores_busy():
        for number in range(RUNS // 2):
            assert exact(options) == first, f"run {number} under load"


def test_a_hundred_thousand_frames_add_nothing() -> None:
    report = verify_soak("identity", FRAMES, "64x64@100*100")
    assert report.verdict == "pass"
    assert report.notes[0].startswith(f"{FRAMES:,} frames")
