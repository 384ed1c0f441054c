"""What each shell offers, asked of the shell itself where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import cli
from harness.arguments import make_parser
from harness.commands import COMMANDS
from harness.commands.completion import SHELLS
from harness.completion import words
from harness.completion.words import described
from harness.workload import SCENARIOS

TARGETS = {"delay", "dncnn", "espcn", "identity", "planned", "reference", "small", "srcnn"}


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not installed")


@pytest.fixture
def script(capsys, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    assert cli.main(["completion", request.param]) == 0
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a file and a folder whose names have a space in them."""
    here = tmp_path / "here"
    (here / "a folder").mkdir(parents=True)
    (here / "a file.py").touch()
    return here


def run(folder: Path, *command: str) -> list[str]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.splitlines()


def bash(script: Path, folder: Path, *typed: str) -> set[str]:
    """What bash offers for the last of these words, after `steadyframe`."""
    ask = (
        f'source "{script}"; COMP_WORDS=(steadyframe "$@"); COMP_CWORD=$#; _steadyframe;'
        ' ((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; true'
    )
    return set(run(folder, "bash", "--norc", "-c", ask, "bash", *typed))


def options_of(name: str) -> set[str]:
    """As the usage in its help has them."""
    done = make_parser().format_help() if not name else _help(name)
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.split("\n\n")[0]))


def _help(name: str) -> str:
    [commands] = (a for a in make_parser()._actions if a.dest == "name")
    return commands.choices[name].format_help()  # type: ignore[index, union-attr]


@needs("bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
def test_bash_offers_commands_and_their_own_options(script: Path, folder: Path) -> None:
    assert bash(script, folder, "") == {*COMMANDS, "-h", "--help", "--version"}
    assert bash(script, folder, "se") == {"selftest"}
    for name in COMMANDS:
        assert bash(script, folder, name, "--") == {
            option for option in options_of(name) if option.startswith("--")
        } | {"--help"}, name


@needs("bash")
@pytest.mark.parametrize("script", ["bash"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (("verify", "es"), {"espcn"}),
        (("verify", ""), {*TARGETS, "a file.py", "a folder"}),
        (("verify", "--level", ""), {"zero-growth", "zero-owned", "zero-malloc"}),
        (("verify", "--level", "=", "zero-m"), {"zero-malloc"}),
        (("verify", "--level", "="), {"zero-growth", "zero-owned", "zero-malloc"}),
        (("verify", "espcn", "--workload", ""), set(SCENARIOS)),
        (("verify", "--map", "g"), {"get_result="}),
        (("verify", "--map", "get_result", "=", ""), set()),
        (("verify", "--cycles", ""), set()),
        (("verify", "--video", "a"), {"a file.py", "a folder"}),
        (("gate", "--output", ""), {"a folder"}),
        (("report", "--diff", "a"), {"a file.py", "a folder"}),
        (("report", "--diff", "old.json", "a"), {"a file.py", "a folder"}),
        (("completion", ""), set(SHELLS)),
        (("watch", "--", "a f"), {"a file.py", "a folder"}),
        (("watch", "a f"), set()),
        (("nonsense", ""), set()),
    ],
)
def test_bash_offers_what_belongs_there(script, folder, typed, offered) -> None:
    assert bash(script, folder, *typed) == offered


@needs("fish")
@pytest.mark.parametrize("script", ["fish"], indirect=True)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", set(COMMANDS)),
        ("verify es", {"espcn"}),
        ("verify --level ", {"zero-growth", "zero-owned", "zero-malloc"}),
        ("verify --level=zero-m", {"--level=zero-malloc"}),
        ("verify --video a", {"a file.py", "a folder/"}),
        ("gate --output a", {"a folder/"}),
        ("completion ", set(SHELLS)),
    ],
)
def test_fish_offers_what_belongs_there(script, folder, typed, offered) -> None:
    ask = f'source "{script}"; complete -C "steadyframe {typed}"'
    seen = {line.split("\t")[0] for line in run(folder, "fish", "--no-config", "-c", ask)}
    assert seen == offered


@pytest.mark.parametrize("shell", SHELLS)
def test_script_is_right_in_its_language_and_names_all(shell: str, tmp_path: Path, capsys) -> None:
    assert cli.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    root, commands = described(make_parser())
    for each in (root, *commands):
        assert not each.name or re.search(rf"\b{each.name}\b", text)
        for option in each.options:
            assert any(re.search(rf"\b{name.lstrip('-')}\b", text) for name in option.names)
    if shutil.which(shell):
        (tmp_path / "script").write_text(text)
        run(tmp_path, shell, "-n", "script")


def test_name_that_a_shell_would_take_apart_is_left_out(monkeypatch) -> None:
    monkeypatch.setattr(words, "registered", lambda: {"good-1.x": (), "$(reboot)": (), "a b": ()})
    _, commands = described(make_parser())
    verify = next(command for command in commands if command.name == "verify")
    assert verify.operand is not None
    assert verify.operand.words == ("good-1.x",)
