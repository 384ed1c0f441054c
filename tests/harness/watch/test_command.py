"""Arguments of the command, and every mistake in them in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import cli
from harness.arguments import make_parser, read


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("watch -- ffmpeg -f lavfi -i testsrc2", "ffmpeg -f lavfi -i testsrc2"),
        ("watch --fps 25 --quiet -- a --pid 3 --json x", "a --pid 3 --json x"),
        ("watch -- docker run -- a -b", "docker run -- a -b"),
        ("watch a b", "a b"),
    ],
)
def test_what_follows_the_dashes_is_the_commands(line: str, command: str) -> None:
    assert read(make_parser(), line.split()).command == command.split()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("watch", "give either a command after --, or --pid N"),
        ("watch --pid 3 -- true", "give either a command after --, or --pid N"),
        ("watch --pid 0", "'0' is not a whole number of 1 or more"),
        ("watch --pid 3 --sites", "--sites needs a command"),
        ("watch --pid 4194999", "there is no process 4194999"),
        ("watch --interval 0 -- true", "'0' is not a number of seconds above 0"),
        ("watch --fps 0 -- true", "'0' is not a number of frames per second above 0"),
        ("watch --json /nowhere/x -- true", "cannot write /nowhere/x"),
        ("watch --html . -- true", ". is a folder"),
        ("watch -- /no/such/program", "'/no/such/program' can't be started"),
        ("watch -- /", "'/' can't be started (Permission denied)"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(line.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_json_to_stdout_is_all_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["watch", "--quiet", "--json", "-", "--", "true"]) == 3
    out, _ = capsys.readouterr()
    assert out.startswith('{\n  "schema": 1,\n  "verdict": "no-verdict"')


def test_a_report_is_written_also_without_a_verdict(tmp_path: Path) -> None:
    page, data = tmp_path / "a.html", tmp_path / "a.json"
    command = ["watch", "--quiet", "--json", str(data), "--html", str(page), "--", "true"]
    assert cli.main(command) == 3
    assert '"verdict": "no-verdict"' in data.read_text()
    assert "NO VERDICT" in page.read_text()
