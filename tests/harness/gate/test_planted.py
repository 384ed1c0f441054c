"""End to end: every kind of fault makes the gate fail and is named, its repaired twin passes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.harness.gate.helpers import gate, project
from tests.harness.gate.planted import CLEAN, FAULTS, faulty, line_of

CHECKOUT = Path(__file__).parents[3]


def write(folder: Path, faults: bool) -> None:
    for name in FAULTS:
        (folder / f"{name}.py").write_text(faulty(name) if faults else CLEAN)


def results(folder: Path) -> dict[str, dict[str, Any]]:
    return {
        case["name"]: case for case in json.loads((folder / "gate.json").read_text())["results"]
    }


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of clean backends, its baseline recorded."""
    folder = project(tmp_path_factory.mktemp("project"), *FAULTS)
    write(folder, faults=False)
    assert gate(folder, "--update", "--quiet") == 0
    return folder


@pytest.fixture(scope="module")
def broken(clean: Path) -> dict[str, dict[str, Any]]:
    """What is said of each case once all have their fault."""
    write(clean, faults=True)
    try:
        assert gate(clean, "--quiet", "--output", "broken") == 1
    finally:
        write(clean, faults=False)
    return results(clean / "broken")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_worse_by_its_rule_and_its_line(name: str, broken) -> None:
    case, fault = broken[name], FAULTS[name]
    assert case["status"] == "worse"
    risen = {d["rule"] for d in case["differences"] if d["after"] > d["before"]}
    assert fault.rule in risen
    place = f"{name}.py:{line_of(name)} in "
    shown = [site["place"] for site in case["sites"]] + case["why"]
    assert any(place in text for text in shown), shown
    assert case["command"].startswith(f"steadyframe verify {name}.py:Backend --workload ")


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("name", FAULTS)
def test_some_faults_only_the_gate_can_see(name: str, clean: Path) -> None:
    verdict = json.loads((clean / "broken" / f"{name}.json").read_text())["verdict"]
    assert verdict == ("fail" if FAULTS[name].verdict_fails else "pass")


@pytest.mark.usefixtures("broken")
def test_repaired_they_are_as_recorded(clean: Path) -> None:
    assert gate(clean, "--quiet", "--output", "repaired", "--strict") == 0
    assert {case["status"] for case in results(clean / "repaired").values()} == {"same"}


def test_a_fault_beside_one_that_is_recorded_is_told_and_the_other_counted(
    tmp_path: Path, capsys
) -> None:
    old, new = FAULTS["kept"], FAULTS["leak"]
    file = project(tmp_path, "mine") / "mine.py"
    file.write_text(CLEAN.replace(old.place, old.line))
    assert gate(tmp_path, "--update", "--quiet") == 0
    file.write_text(f"\n{CLEAN.replace(old.place, old.line).replace(new.place, new.line)}")
    capsys.readouterr()
    assert gate(tmp_path) == 1
    out = capsys.readouterr().out
    first, *rest = out.splitlines()[1:]
    assert first.startswith("  teardown-release: ")
    assert f"mine.py:{1 + line_of('leak')} in close" in first
    assert "  3 recorded violations unchanged" in rest
    assert f"mine.py:{1 + line_of('kept')}" not in out


def test_an_edit_elsewhere_in_the_file_changes_nothing(clean: Path) -> None:
    (clean / "churn.py").write_text(f"# a line more\n\n{CLEAN}")
    try:
        assert gate(clean, "--quiet", "--strict", "--only", "churn") == 0
    finally:
        write(clean, faults=False)


def test_one_tensor_on_the_reference_backends_hot_path(tmp_path: Path) -> None:
    for package in ("backend", "harness"):
        shutil.copytree(CHECKOUT / package, tmp_path / package)
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    hot = tmp_path / "backend" / "inference.py"
    clean = hot.read_text()
    call = "        output = self.model.module(request.input.tensor)\n"
    assert clean.count(call) == 1

    def gate_of_copy(*more: str) -> subprocess.CompletedProcess[str]:
        words = ["gate", "--only", "identity-sync-constant", "--jobs", "1", "--quiet", *more]
        return subprocess.run(
            [sys.executable, "-m", "harness", *words], cwd=tmp_path, capture_output=True, text=True
        )

    assert gate_of_copy("--update").returncode == 0
    hot.write_text(clean.replace(call, f"        torch.empty(1)\n{call}"))
    failed = gate_of_copy("--output", "out")
    assert (failed.returncode, failed.stderr) == (1, "")
    line = clean[: clean.index(call)].count("\n") + 1
    (case,) = results(tmp_path / "out").values()
    assert case["sites"][0]["place"] == f"backend/inference.py:{line} in _infer"
    assert case["sites"][0]["code"] == "torch.empty(1)"
