"""The commands from a wheel, in a folder that is no checkout."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, Elsewhere
from tests.plugin.test_readme import blocks

BACKEND = """
import numpy as np

class Mine:
    def __init__(self):
        self.buffer = np.empty(256 * 256 * 3, np.uint8)

    def __call__(self, frame):
        out = self.buffer[: frame.data.size].reshape(frame.data.shape)
        return np.invert(frame.data, out=out)
"""
CASES = """
[[tool.steadyframe.cases]]
name = "mine"
target = "filters.mine:Mine"
workload = ["64x64@25*20,96x96@25*20"]
quick = true
"""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip())


def test_it_is_the_wheel_that_is_run(elsewhere: Elsewhere) -> None:
    asked = "import backend, harness; print(backend.__file__, harness.__file__, sep='\\n')"
    files = elsewhere.run("python", "-c", asked).stdout.splitlines()
    assert all(Path(file).is_relative_to(elsewhere.environment) for file in files)
    assert str(ROOT) not in elsewhere.run("python", "-c", "import sys; print(sys.path)").stdout


def test_shipped_names_and_data_are_found(elsewhere: Elsewhere) -> None:
    assert "  espcn " in elsewhere.run("steadyframe", "list").stdout
    done = elsewhere.run("steadyframe", "verify", "identity", "--quick", "--html", "page.html")
    assert done.stdout.startswith("PASS  identity holds zero-owned")
    assert "</html>" in (elsewhere.folder / "page.html").read_text()


def test_package_of_the_user_that_bears_our_name_is_told(elsewhere: Elsewhere) -> None:
    write(elsewhere.folder, "backend/__init__.py", "")
    write(elsewhere.folder, "backend/mine.py", BACKEND)
    for command, target in (
        (("steadyframe",), "backend.mine:Mine"),
        (("python", "-m", "harness"), "identity"),
    ):
        done = elsewhere.run(*command, "verify", target, code=2)
        assert done.stderr.count("\n") == 1
        assert "`backend` is a package of steadyframe, too" in done.stderr
    asked = ("backend/mine.py:Mine", "--workload", "64x64@25*20", "--quick")
    elsewhere.run("steadyframe", "verify", *asked)


def test_gate_without_cases_says_where_they_are_declared(elsewhere: Elsewhere) -> None:
    done = elsewhere.run("steadyframe", "gate", code=2)
    assert f"no cases are declared in {elsewhere.folder}/pyproject.toml: add" in done.stderr
    assert not any(elsewhere.folder.iterdir())


@pytest.mark.soak
def test_gate_of_a_project_of_its_own(elsewhere: Elsewhere) -> None:
    write(elsewhere.folder, "filters/mine.py", BACKEND)
    write(elsewhere.folder, "pyproject.toml", CASES)
    done = elsewhere.run("steadyframe", "gate", "--quiet", code=2)
    assert "give it a plain name" in done.stderr  # a text of a workload can't name a file
    write(elsewhere.folder, "pyproject.toml", CASES.replace('["64', '"64').replace('20"]', '20"'))
    done = elsewhere.run("steadyframe", "gate", code=1)
    assert "steadyframe gate --update" in done.stdout
    elsewhere.run("steadyframe", "gate", "--update")
    assert "mine" in json.loads((elsewhere.folder / "reports/baseline.json").read_text())["cases"]
    assert "1 as recorded" in elsewhere.run("steadyframe", "gate").stdout
    write(
        elsewhere.folder,
        "filters/mine.py",
        BACKEND.replace("out = ", "kept = bytearray(5000); out = "),
    )
    done = elsewhere.run("steadyframe", "gate", code=1)
    assert "filters/mine.py:8 in __call__" in done.stdout


@pytest.mark.soak
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("selftest --only lost-raw", "caught 1 of 1 planted"),
        ("doctor --quiet", "can be measured here"),
        ("watch --duration 15 --quiet -- sleep 20", "PASS"),
        ("completion bash", "complete -F _steadyframe steadyframe"),
    ],
)
def test_command_does_its_work(elsewhere: Elsewhere, command: str, words: str) -> None:
    assert words in elsewhere.run("steadyframe", *command.split()).stdout


@pytest.mark.soak
def test_report_makes_its_clip_and_its_pages(elsewhere: Elsewhere) -> None:
    elsewhere.run("steadyframe", "report")
    made = set(os.listdir(elsewhere.folder / "reports"))
    assert {"clip.h264", "index.html", "espcn-sync.html", "dncnn-async.json"} <= made


@pytest.mark.soak
def test_example_of_the_readme_in_pytest(elsewhere: Elsewhere) -> None:
    write(elsewhere.folder, "test_mine.py", blocks()[0])
    done = elsewhere.run("python", "-m", "pytest")
    assert "1 of 1 test holds its contract" in done.stdout
