"""What `--help` says: of each command, and with examples that can be typed."""

from __future__ import annotations

import shlex

import pytest

from harness.arguments import make_parser, read
from harness.commands import COMMANDS


def help_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as left:
        read(make_parser(), [*arguments, "--help"])
    assert left.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_a_command_are_its_own_and_are_understood(name: str, capsys) -> None:
    examples = COMMANDS[name].examples
    assert examples
    for example in examples:
        options = read(make_parser(), shlex.split(example.partition(" > ")[0]))
        assert options.name == name
    shown = help_of(capsys, name).split("\nexamples:\n")[1]
    assert shown.splitlines() == [f"  steadyframe {example}" for example in examples]


def test_help_has_an_example_of_every_command_and_the_exit_codes(capsys) -> None:
    shown = help_of(capsys).split("\nexamples:\n")[1]
    for command in COMMANDS.values():
        assert f"  steadyframe {command.examples[0]}\n" in shown
    assert "exit codes: 0 the contract holds, 1 it is violated" in shown


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_terminal(name: str, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert max(map(len, help_of(capsys, *name.split()).splitlines())) <= 100
