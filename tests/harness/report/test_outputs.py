"""What the commands write besides the screen: each file whole, and known to be writable before."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from harness import cases, cli
from harness.report.json import to_json
from harness.result import Report

OPTIONS = {"--markdown": "out.md", "--junit": "out.xml", "--sarif": "out.sarif"}


@pytest.fixture(autouse=True)
def no_summary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, make_failed, make_finding) -> list[str]:
    """The targets that a stand-in for harness.verify was called with; all of them fail."""
    called: list[str] = []

    def verify(target: str, *_: Any, **__: Any) -> Report:
        called.append(target)
        return make_failed(make_finding(), target=target)

    module = ModuleType("harness.verify")
    module.verify = verify  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "harness.verify", module)
    monkeypatch.setattr(cases, "resolve", lambda target: target)
    return called


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[str, Report], str]:
    def store(name: str, report: Report) -> str:
        (tmp_path / name).write_text(to_json(report))
        return name

    return store


def check_outputs(folder: Path) -> None:
    assert "## steadyframe: FAIL" in (folder / "out.md").read_text()
    assert ElementTree.parse(folder / "out.xml").getroot().tag == "testsuites"
    assert json.loads((folder / "out.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.parametrize("command", ["verify m:f --json out.json", "report --video x.mp4"])
def test_verify_and_report_write_what_is_asked_for(runs, capsys, tmp_path, command) -> None:
    words = [word for option in OPTIONS.items() for word in option]
    assert cli.main([*command.split(), *words]) == 1
    assert runs
    check_outputs(tmp_path)
    assert "FAIL  " in capsys.readouterr().out
    assert not list(tmp_path.rglob(".*partial"))


def test_json_on_stdout_does_not_leave_out_the_files(runs, capsys, tmp_path) -> None:
    words = [word for option in OPTIONS.items() for word in option]
    assert cli.main(["verify", "m:f", "--json", "-", "--html", "out.html", *words]) == 1
    assert json.loads(capsys.readouterr().out)["target"] == "m:f"
    check_outputs(tmp_path)
    assert runs == ["m:f"]


def test_page_of_verify_is_one_file_with_all_in_it(runs, tmp_path) -> None:
    assert cli.main(["verify", "m:f", "--quiet", "--html", "out.html"]) == 1
    assert runs == ["m:f"]
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]
    page = (tmp_path / "out.html").read_text()
    assert "Plotly" in page
    assert "src=" not in page.split("<body>")[1].split("<script>")[0]
    assert 'script src="' not in page


@pytest.mark.parametrize("option", [*OPTIONS, "--html", "--flamegraph", "GITHUB_STEP_SUMMARY"])
def test_what_cannot_be_written_is_told_before_anything_runs(
    runs, capsys, monkeypatch, option
) -> None:
    words = ["verify", "m:f"]
    if option.startswith("--"):
        words += [option, "no/such/folder/x"]
    else:
        monkeypatch.setenv(option, "no/such/folder/x")
    assert cli.main(words) == 2
    assert "no/such/folder" in capsys.readouterr().err
    assert runs == []


def test_missing_plotly_is_told_before_anything_runs(runs, capsys, monkeypatch) -> None:
    monkeypatch.setattr("harness.report.pages.find_spec", lambda _: None)
    for words in (["verify", "m:f", "--html", "out.html"], ["report", "--video", "x.mp4"]):
        assert cli.main(words) == 2
        assert "plotly is not installed" in capsys.readouterr().err
    assert runs == []


def test_summary_of_a_ci_job_is_added_to(runs, monkeypatch, tmp_path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("what another step said\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for _ in range(2):
        cli.main(["verify", "m:f", "--quiet"])
    assert len(runs) == 2
    text = summary.read_text()
    assert text.startswith("what another step said\n## steadyframe: FAIL\n")
    assert text.count("## steadyframe: FAIL") == 2


def test_comparison_says_what_is_worse_and_exits_by_it(
    make_report, make_failed, make_finding, stored, capsys, tmp_path, runs
) -> None:
    good, bad = stored("a.json", make_report()), stored("b.json", make_failed(make_finding()))
    compare = ["report", "--diff"]
    assert cli.main([*compare, good, bad, "--html", "d.html", "--markdown", "d.md"]) == 1
    assert "worse" in capsys.readouterr().out
    assert "worse" in (tmp_path / "d.html").read_text()
    assert "worse" in (tmp_path / "d.md").read_text()
    assert cli.main([*compare, bad, good]) == 0
    assert cli.main([*compare, good, good, "--quiet"]) == 0
    assert capsys.readouterr().out.endswith("Nothing changed: every count is the same.\n")
    assert runs == []


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("report --diff a.json", "expected 2"),
        ("report --diff a.json gone.json", "gone.json"),
        ("report --diff a.json bad.json", "bad.json"),
        ("report --diff a.json a.json --sarif x", "leave out"),
        ("report --diff a.json a.json --video x", "leave out"),
        ("report --diff a.json a.json --html no/folder/x", "no/folder"),
        ("report --html x.html", "--diff"),
    ],
)
def test_bad_usage_is_one_line(make_report, stored, capsys, runs, tmp_path, line, hint) -> None:
    stored("a.json", make_report())
    (tmp_path / "bad.json").write_text('{"schema": 0}')
    assert cli.main(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert hint in err
    assert err.count("\n") == 1
    assert runs == []


def test_help_needs_none_of_the_libraries() -> None:
    code = (
        "import sys; from harness.arguments import make_parser; make_parser(); "
        "print({'jinja2', 'plotly', 'markupsafe', 'msgspec', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(cli.__file__).parents[1], capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "set()\n"
