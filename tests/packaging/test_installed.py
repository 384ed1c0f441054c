"""What is installed here is what pyproject.toml says now."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ASK = """
import json
from importlib.metadata import distribution
points = distribution("steadyframe").entry_points  # of the copy that is found first, as ever
print(json.dumps([(point.group, point.name, point.value) for point in points]))
"""


@pytest.mark.parametrize("options", [[], ["-P"]], ids=["python -m", "the script"])
def test_entry_points_are_not_those_of_an_earlier_pyproject(options: list[str]) -> None:
    """`python -m` in the checkout sees the metadata that an editable install leaves there first."""
    done = subprocess.run(
        [sys.executable, *options, "-c", ASK], cwd=ROOT, capture_output=True, text=True, check=True
    )
    declared = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    assert {tuple(point) for point in json.loads(done.stdout)} == {
        (group, name, value) for group, points in declared.items() for name, value in points.items()
    }, "the installed metadata is stale: run `make setup`, or `pip install -e .`"
