"""The command: which sections run, what it writes, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from harness.bench import __main__ as bench
from harness.bench.section import Bench, Column, Section, Target


def section(name: str, figure: float | None) -> Section:
    target = Target("least", 1.0, figure, "there", at_least=True)
    return Section(name, name, "about", [Column("figure")], [[figure or 0]], targets=[target])


@pytest.fixture(autouse=True)
def _sections(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> Section:
        raise KeyboardInterrupt

    sections = {
        "good": lambda *_: section("good", 2.0),
        "bad": lambda *_: section("bad", 0.5),
        "unknown": lambda *_: section("unknown", None),
        "broken": fails,
    }
    monkeypatch.setattr(bench, "SECTIONS", sections)
    monkeypatch.setattr(bench.optional, "versions", dict)


@pytest.mark.parametrize(("only", "code"), [("good", 0), ("good,bad", 1), ("unknown", 0)])
def test_a_target_that_is_missed_is_the_exit_code(only: str, code: int, tmp_path: Path) -> None:
    assert bench.main(["--only", only, "--output", str(tmp_path)]) == code
    written = msgspec.json.decode((tmp_path / bench.JSON).read_bytes(), type=Bench)
    assert [one.name for one in written.sections] == only.split(",")
    assert (tmp_path / bench.PAGE).is_file()
    assert (tmp_path / "plotly.min.js").is_file()


def test_what_was_done_is_there_if_it_is_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["--only", "good,broken", "--output", str(tmp_path)]) == 130
    written = msgspec.json.decode((tmp_path / bench.JSON).read_bytes(), type=Bench)
    assert [one.name for one in written.sections] == ["good"]
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--only", "goood"], "there is no section 'goood': did you mean 'good'?"),
        (["--turns", "0"], "0 turns measure nothing"),
        (["--output", "/dev/null/x"], "cannot make the folder"),
    ],
)
def test_bad_usage_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["--output", str(tmp_path), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
