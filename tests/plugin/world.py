"""A folder of tests that use the plugin, and what came of running it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

BACKENDS = """
import os
import numpy as np

class Sound:
    def __init__(self):
        self.all = np.empty(64 * 64 * 3, np.uint8)

    def __call__(self, frame):
        out = self.all[: frame.data.size].reshape(frame.data.shape)
        return np.invert(frame.data, out=out)

kept = []

class Leaky(Sound):
    def __call__(self, frame):
        kept.append(bytearray(5000))  # leaks
        return super().__call__(frame)

class Crashes(Sound):
    def __call__(self, frame):
        if frame.pts == 7:
            os.abort()  # dies
        return super().__call__(frame)

QUICK = {"workload": "32x32@25*12", "quick": True}
"""

WORLD = """
import pytest
from backends import *

def test_sound(steady):
    report = steady.verify(Sound, "32x32@25*12")
    assert report.verdict == "pass"
    assert {rule.status for rule in report.rules} == {"pass", "skipped"}  # two cycles

def test_leaky(steady):
    steady.verify(Leaky, **QUICK)
    raise AssertionError("not reached")

def test_closure(steady):
    mine = []
    def open_it():
        def infer(frame):
            mine.append(bytearray(6000))  # in a closure
            return frame.pts
        return infer
    steady.verify(open_it, **QUICK)

def test_crash(steady):
    steady.verify(Crashes, **QUICK)

def test_bad_workload(steady):
    steady.verify(Sound, workload="1x")

def test_bad_owners(steady):
    steady.verify(Sound, owners=[3], **QUICK)

def test_twice(steady):
    steady.verify(Sound, **QUICK)
    steady.verify(Leaky, **QUICK)

@pytest.mark.parametrize("open_it", [Sound, Leaky], ids=["a/b", "a b"])
def test_parametrised(steady, open_it):
    steady.verify(open_it, **QUICK)

class TestClass:
    def setup_method(self):
        self.size = 32

    def test_method(self, steady):
        steady.verify(lambda: Sound(), workload=f"{self.size}x32@25*12", quick=True)

    @pytest.mark.steady(**QUICK)
    def test_marked_method(self):
        assert self.size == 32
        return Sound()

@pytest.mark.steady(**QUICK)
def test_returns_a_backend():
    return Leaky()

@pytest.mark.steady(**QUICK)
def test_returns_a_factory():
    return Sound

@pytest.fixture
def gain():
    return 3

@pytest.mark.steady("32x32@25*12", quick=True)
@pytest.mark.parametrize("size", [5000])
def test_yields(gain, size):
    yield Sound()
    with open("rests", "a") as rests:
        rests.write(str(gain))

def test_block(steady):
    with steady.no_allocations():
        bytearray(7000)  # in a block

def test_left(steady):
    with steady.released():
        kept.append(bytearray(8000))  # left

def test_good_blocks(steady):
    with steady.released(), steady.no_allocations():
        pass

def test_bad_block(steady):
    with steady.no_allocations(level="zero-growth"):
        raise AssertionError("not reached")

def test_bad_warmup(steady):
    with steady.released(warmup=3):
        raise AssertionError("not reached")

def test_assertion_in_a_block(steady):
    with steady.no_allocations():
        assert 1 + 1 == 3

def test_without():
    pass
"""


class World:
    """What came of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "backends.py").write_text(BACKENDS)
        (folder / "test_world.py").write_text(WORLD)
        (folder / "pyproject.toml").write_text("[tool.steadyframe]\ncycles = 2\n")
        done = run_pytest(
            folder, "--steady-report", "reports", "--junitxml", "junit.xml", "-p", "no:randomly"
        )
        self.output = done.stdout + done.stderr
        self.cases = {
            case.get("name"): case
            for case in ElementTree.parse(folder / "junit.xml").iter("testcase")
        }

    def outcome(self, name: str) -> str:
        """Passed, or failed."""
        return "failed" if self.cases[name].find("failure") is not None else "passed"

    def failure(self, name: str) -> str:
        """What pytest shows of a test that failed."""
        failure = self.cases[name].find("failure")
        assert failure is not None, f"{name} passed"
        return failure.text or ""

    def properties(self, name: str) -> dict[str, str]:
        """JUnit's properties of a test."""
        found = self.cases[name].iter("property")
        return {str(one.get("name")): str(one.get("value")) for one in found}

    def report(self, name: str) -> Any:
        """The JSON report of a test."""
        [path] = (self.folder / "reports").glob(f"test_world.py-{name}-??????.json")
        return json.loads(path.read_text())


def run_pytest(folder: Path, *options: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own, with the installed plugin."""
    environment = {**os.environ, "COLUMNS": "80"}
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    command = [str(Path(sys.executable).with_name("pytest")), *options]
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True
    )


def flat(text: str) -> str:
    """Text as it was before it was wrapped."""
    return re.sub(r"\s+", " ", text)


def line_of(text: str, comment: str) -> int:
    """The number of the line that ends with this comment."""
    return 1 + next(n for n, line in enumerate(text.splitlines()) if line.endswith(f"# {comment}"))
