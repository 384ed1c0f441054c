"""The command: which cases, which exit code, what is written. What it measures is made by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import cli
from harness.config import load
from harness.errors import UsageError
from harness.gate import gate as module
from harness.gate.case import Case
from harness.gate.measure import measure
from harness.result import Report, RuleResult
from tests.harness.gate.helpers import crashed, finding, gate, measures, project, report

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Case], Report]], None]:
    """Sets what is measured of each case."""

    def set_answer(answers: Callable[[Case], Report]) -> None:
        monkeypatch.setattr(module, "measure", measures(answers))

    set_answer(lambda _: report())
    return set_answer


@pytest.fixture
def recorded(tmp_path: Path, answer) -> Path:  # noqa: ARG001 - measures in its stead
    folder = project(tmp_path, "a", "b", "c")
    assert gate(folder, "--update", "--quiet") == 0
    return folder


def test_what_is_as_recorded_passes(recorded: Path, capsys) -> None:
    capsys.readouterr()
    assert gate(recorded, "--strict") == 0
    out, err = capsys.readouterr()
    assert out == "PASS  3 cases: 3 as recorded\n"
    assert [line.split(":")[0] for line in err.splitlines()] == ["[1/3] a", "[2/3] b", "[3/3] c"]


def test_worse_fails_and_tells_rule_owner_site_numbers_frames_and_command(
    recorded: Path, answer, capsys
) -> None:
    answer(lambda case: report(backend=(1, 64) if case.name == "b" else (0, 0)))
    capsys.readouterr()
    assert gate(recorded) == 1
    out = capsys.readouterr().out
    for words in (
        "b: worse than recorded",
        "steady-allocations, backend: 0 -> 1 allocations per steady step of 64x64 x1",
        "mine.py:7 in run (steady, owner backend)",
        "0 -> 2 blocks, 0 -> 128 bytes; frames 8-9",
        "Look closer: steadyframe verify mine.py:Backend --level zero-owned",
        "FAIL  3 cases: 1 worse than recorded, 2 as recorded",
    ):
        assert words in out


def test_better_is_a_notice_and_fails_only_where_strict(recorded: Path, answer, capsys) -> None:
    answer(lambda _: report(model=(1, 1)))
    assert gate(recorded) == 0
    assert "record what is better: steadyframe gate --update" in capsys.readouterr().out
    assert gate(recorded, "--strict") == 1
    assert gate(recorded, "--update") == 0
    assert gate(recorded, "--strict") == 0


def test_a_missing_baseline_fails_before_anything_is_measured(
    tmp_path: Path, answer, capsys
) -> None:
    answer(lambda _: pytest.fail("measured"))
    assert gate(project(tmp_path, "a")) == 1
    out = capsys.readouterr().out
    assert "there is no such file: nothing can be compared" in out
    assert "Record: steadyframe gate --update" in out


def test_a_case_that_only_one_side_has_fails(recorded: Path, capsys) -> None:
    project(recorded, "b", "c", "d")
    assert gate(recorded) == 1
    out = capsys.readouterr().out
    assert "d: not in the baseline" in out
    assert "a: recorded, but not declared" in out
    assert gate(recorded, "--only", "[bc]") == 0
    assert gate(recorded, "--update") == 0
    assert sorted(json.loads((recorded / "reports/baseline.json").read_text())["cases"]) == [
        "b",
        "c",
        "d",
    ]


def test_two_gates_that_record_at_once_both_stay(tmp_path: Path, answer) -> None:
    folder = project(tmp_path, "a", "b")

    def another_meanwhile(case: Case) -> Report:
        if case.name == "a":
            assert gate(folder, "--update", "--quiet", "--only", "b") == 0
        return report()

    answer(another_meanwhile)
    assert gate(folder, "--update", "--quiet", "--only", "a") == 0
    assert list(json.loads((folder / "reports/baseline.json").read_text())["cases"]) == ["a", "b"]


def test_a_case_that_is_declared_otherwise_is_not_compared(recorded: Path, capsys) -> None:
    text = (recorded / "pyproject.toml").read_text()
    (recorded / "pyproject.toml").write_text(text.replace("quick = true", "seed = 3", 1))
    assert gate(recorded) == 1
    out = capsys.readouterr().out
    assert "a: declared otherwise than recorded" in out
    assert "seed 3 (recorded: 0); quick False (recorded: True)" in out


def test_no_verdict_is_3_and_a_regression_beside_it_is_1(recorded: Path, answer, capsys) -> None:
    answer(lambda case: crashed() if case.name == "b" else report())
    assert gate(recorded) == 3
    assert "the backend crashed with SIGSEGV" in capsys.readouterr().out
    before = (recorded / "reports/baseline.json").read_text()
    assert gate(recorded, "--update") == 3
    assert (recorded / "reports/baseline.json").read_text() == before
    answer(lambda case: crashed() if case.name == "b" else report(backend=(1, 1)))
    assert gate(recorded) == 1


def test_a_violation_can_be_recorded_and_is_told_each_time(recorded: Path, answer, capsys) -> None:
    answer(lambda _: report(backend=(67, 721_322)))
    assert gate(recorded, "--update") == 0
    assert "recorded though it violates zero-owned" in capsys.readouterr().out
    assert gate(recorded, "--strict") == 0
    assert "it violates zero-owned, as recorded" in capsys.readouterr().out
    answer(lambda _: report(backend=(68, 721_322)))
    assert gate(recorded) == 1


def test_one_line_behind_several_cases_is_told_once_and_never_hides_another(
    recorded: Path, answer, capsys
) -> None:
    left = RuleResult("teardown-resources", "fail", 1, 0, "", (finding(text="a thread is left"),))

    def worse(case: Case) -> Report:
        found = report(backend=(1, 64))
        if case.name == "c":
            found.rules = (*found.rules, left)
        return found

    answer(worse)
    assert gate(recorded) == 1
    out = capsys.readouterr().out
    assert "b: worse than recorded, by /project/mine.py:7 in run as above" in out
    assert "c: worse than recorded\n  teardown-resources: a thread is left" in out


def test_news_is_shown_before_what_is_recorded_which_takes_a_line(
    recorded: Path, answer, capsys
) -> None:
    def leaking(*names: str) -> Report:
        found = tuple(finding("leak", function=name, text=f"{name} leaks") for name in names)
        rule = RuleResult("teardown-release", "fail", len(found), 0, "", found)
        return report(verdict="fail", rules=(*report().rules[:2], rule))

    answer(lambda _: leaking("old", "older"))
    assert gate(recorded, "--update") == 0
    capsys.readouterr()
    answer(lambda case: leaking("old", "older", *(["new"] if case.name == "b" else [])))
    assert gate(recorded, "--markdown", "gate.md", "--sarif", "gate.sarif") == 1
    out = capsys.readouterr().out
    for text in (out, (recorded / "gate.md").read_text()):
        words = ("new leaks", "2 recorded violations unchanged", "a: it violates", "c: it violates")
        places = [text.index(word) for word in words]
        assert places == sorted(places)
        assert "old leaks" not in text
    (run,) = json.loads((recorded / "gate.sarif").read_text())["runs"]
    states = [(r["message"]["text"].split()[0], r["baselineState"]) for r in run["results"]]
    assert states == [("new", "new"), ("old", "unchanged"), ("older", "unchanged")]


def test_shards_share_the_cases_and_merge_to_the_whole(recorded: Path, answer, capsys) -> None:
    answer(lambda case: report(backend=(1, 64) if case.name == "b" else (0, 0)))
    codes = [gate(recorded, "--shard", f"{n}/2", "--output", f"out/{n}") for n in (1, 2)]
    assert codes == [0, 1]
    assert sorted(path.name for path in (recorded / "out/1").iterdir()) == [
        "a.json",
        "c.json",
        "gate.json",
    ]
    capsys.readouterr()
    summary = recorded / "summary.md"
    assert cli.main(["report", "--merge", str(recorded / "out"), "--markdown", str(summary)]) == 1
    assert "FAIL  3 cases: 1 worse than recorded, 2 as recorded" in capsys.readouterr().out
    assert "| b | worse than recorded | zero-growth |" in summary.read_text()
    (recorded / "out/2/gate.json").unlink()
    assert cli.main(["report", "--merge", str(recorded / "out")]) == 2
    assert "shard 2 of 2 is missing" in capsys.readouterr().err
    (recorded / "out/2/gate.json").write_text("{")
    assert cli.main(["report", "--merge", str(recorded / "out")]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--shard", "0/2"], "K/N"),
        (["--shard", "3/2"], "K/N"),
        (["--jobs", "0"], "1 or more"),
        (["--only", "zz"], "no case is called 'zz': choose from a, b, c"),
        (["--update", "--strict"], "exclude"),
        (["--output", "/dev/null/x"], "/dev/null"),
        (["--baseline", "/dev/null"], "no file"),
        (["--update", "--baseline", "/dev/null/x"], "/dev/null"),
        (["--markdown", "no/such/x.md"], "no/such"),
    ],
)
def test_bad_usage_is_one_line(recorded: Path, answer, capsys, arguments, words) -> None:
    answer(lambda _: pytest.fail("measured"))
    capsys.readouterr()
    assert gate(recorded, *arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert words in err


def test_a_project_without_cases_is_told_how_to_declare_them(tmp_path: Path, capsys) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    assert gate(tmp_path) == 2
    assert "[[tool.steadyframe.cases]]" in capsys.readouterr().err


def test_a_target_that_does_not_import_is_bad_usage_whatever_else_runs(
    tmp_path, monkeypatch
) -> None:
    project(tmp_path, "bad", "good")
    (tmp_path / "bad.py").write_text("import nothing_of_this_name\nBackend = None\n")
    (tmp_path / "good.py").write_text("def Backend(frame):\n    return frame\n")
    config = load(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="nothing_of_this"):
        measure(config.cases, config, tmp_path, 2, lambda *_: None)


def test_an_interrupt_ends_it_at_once_and_leaves_the_baseline_alone(tmp_path: Path) -> None:
    project(tmp_path, "slow", "slower")
    for name in ("slow", "slower"):
        (tmp_path / f"{name}.py").write_text(
            f"import pathlib, time\ndef Backend(frame):\n"
            f"    pathlib.Path('{name}.runs').touch()\n    time.sleep(1000)\n"
        )
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    running = subprocess.Popen(
        [sys.executable, "-m", "harness", "gate", "--update", "--jobs", "2"],
        cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 100
    while not (tmp_path / "slow.runs").exists() or not (tmp_path / "slower.runs").exists():
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, "", "steadyframe: interrupted\n")
    assert not (tmp_path / "reports/baseline.json").exists()
