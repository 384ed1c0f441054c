"""A steady frame costs no allocation of the backend's own, measured exactly by memray."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import backend.reference

SCRIPT = Path(__file__).with_name("steady_allocations.py")
ROOT = Path(backend.reference.__file__).parents[1]


@pytest.fixture(scope="module")
def measured():
    """All cases, from one fresh process."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_no_own_allocation_on_any_steady_frame_and_no_growth_under_jumps(measured):
    assert len(measured) > 60
    wrong = {name: places for name, _, own, places in measured if own}
    assert not wrong, json.dumps(wrong, indent=2)


def test_the_measurement_sees_the_models_own_allocations(measured):
    """Else the zero above would prove nothing."""
    by_name = {name: model for name, model, _, _ in measured}
    assert by_name["steady-small-sync-rgb24"] > 100
    assert by_name["steady-small-async-4-rgb24"] == by_name["steady-small-sync-rgb24"]
