"""`steadyframe inject` from the outside: exit codes, and what the report says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.cli import main
from tests.harness.inject import planted

PLANTED = Path(planted.__file__)
SHORT = "16x16@25*3,24x16@25*2"


def run(name: str, *more: str) -> int:
    return main(["inject", f"{PLANTED}:{name}", "--workload", SHORT, "--no-color", *more])


def test_a_backend_that_survives_exits_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("Plain", "--quiet") == 0
    out = capsys.readouterr().out
    assert out.startswith("PASS")
    assert out.count("\n") == 1
    assert "survives a failure of each of" in out


def test_a_point_that_broke_something_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "report.json"
    assert run("CapacityNotReset", "--json", str(path), "--limit", "1", "--jobs", "1") == 1
    out = capsys.readouterr().out
    report = json.loads(path.read_text())
    broken = report["broken"][0]
    assert report["verdict"] == "fail"
    assert f"{broken['index']} of {report['operations']}  aten.empty.memory_format" in out
    assert "good-frame-failed: a frame that was not in hand fails too" in out
    assert "reserve" in out.split("stack of the operation")[1].splitlines()[1]
    assert "--limit N goes on" in out
    assert f"steadyframe inject {PLANTED}:CapacityNotReset --workload" in out


def test_a_backend_that_fails_anyway_has_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("Fails", "--json", "-") == 3
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "no-verdict"
    assert "not my day" in report["failure"]["text"]
    assert report["operations"] == 0


def test_a_backend_with_nothing_that_can_fail_is_no_pass(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "pure.py"
    file.write_text("def pure(frame): return frame.pts\n")
    assert main(["inject", f"{file}:pure", "--workload", SHORT, "--no-color", "--quiet"]) == 3
    assert capsys.readouterr().out == (
        f"NO VERDICT  {file}:pure was not put to the test: no operation was seen that can fail.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inject", "no.such:thing"], "there is no module 'no'"),
        (["inject", f"{PLANTED}:Plain", "--workload", "large"], "large"),
        (["inject", f"{PLANTED}:Plain", "--jobs", "0"], "'0' is not a whole number"),
        (["inject", f"{PLANTED}:Plain", "--arg", "a=1", "--arg", "a=2"], "more than once"),
        (["inject", f"{PLANTED}:Plain", "--arg", "a=1"], "options don't fit"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
