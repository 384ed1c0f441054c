"""[tool.steadyframe]: what it says, and one clear line for each mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.config import Config, anchored, load, read
from harness.errors import UsageError
from harness.owners import Owners


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(text)
    return path


def test_everything_that_can_be_said(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '[tool.steadyframe]\nowners = ["model=nets/*", "decoder=*/av/*"]\nlevel = "zero-malloc"\n'
        "cycles = 5\nwarmup = 0\ntimeout = 90\n",
    )
    assert read(path) == Config(
        path,
        (("model", f"{tmp_path}/nets/*"), ("decoder", "*/av/*")),
        "zero-malloc",
        5,
        0,
        90.0,
    )


def test_the_nearest_file_upward_is_read_and_no_other(tmp_path: Path) -> None:
    write(tmp_path, "[tool.steadyframe]\ncycles = 9\n")
    inner = write(tmp_path / "a", "[tool.steadyframe]\ncycles = 4\n")
    assert load(inner.parent / "b" / "c") == Config(path=inner, cycles=4)
    bare = write(tmp_path / "d", '[project]\nname = "d"\n')
    assert load(bare.parent) == Config(path=bare)


def test_without_a_file_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.config.FILE", "no-such-pyproject.toml")
    assert load(tmp_path) == Config()


def test_a_relative_folder_is_that_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "[tool.steadyframe]\ntimeout = 0.5\n")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert load(Path(".")) == Config(path=path, timeout=0.5)


def test_a_relative_glob_matches_files_below_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "pro[ject]"
    path = write(folder, '[tool.steadyframe]\nowners = ["model=nets/*", "host=nets/x.py:run"]\n')
    owners = Owners(read(path).owners)
    assert owners.site([("run", f"{folder}/nets/x.py", 3)]).owner == "model"
    assert owners.site([("run", "/elsewhere/nets/x.py", 3)]).owner == "backend"


@pytest.mark.parametrize("glob", ["/abs/*", "*/x.py", "<string>"])
def test_other_globs_stay_as_they_are(glob: str) -> None:
    assert anchored(glob, Path("/project")) == glob


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("cycle = 3", "has no key 'cycle': did you mean 'cycles'?"),
        ("owner = []", "has no key 'owner': did you mean 'owners'?"),
        ("colour = 1", "choose from owners, level, cycles, warmup, timeout"),
        ('level = "zero-growht"', "there is no level 'zero-growht': did you mean 'zero-growth'?"),
        ("level = 3", "[tool.steadyframe] level: there is no level 3: choose from"),
        ("cycles = 0", "cycles: 0 is not a whole number of 1 or more"),
        ("cycles = true", "cycles: true is not a whole number"),
        ("cycles = 2.5", "cycles: 2.5 is not a whole number"),
        ('warmup = "8"', "warmup: '8' is not a whole number of 0 or more"),
        ("warmup = -1", "warmup: -1 is not a whole number of 0 or more"),
        ("timeout = 0", "timeout: 0 is not a number of seconds above 0"),
        ("timeout = nan", "timeout: nan is not"),
        ("timeout = inf", "timeout: inf is not"),
        ("timeout = true", "timeout: true is not"),
        ('owners = "model=a/*"', "is not a list of texts"),
        ("owners = [1]", "is not a list of texts"),
        ('owners = ["model"]', "'model' is not NAME=GLOB"),
        ('owners = ["=a"]', "'=a' is not NAME=GLOB"),
        ("cycles = ", "is not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_file(tmp_path: Path, line: str, words: str) -> None:
    path = write(tmp_path, f"[tool.steadyframe]\n{line}\n")
    with pytest.raises(UsageError) as raised:
        read(path)
    text = str(raised.value)
    assert text.startswith(str(path))
    assert words in text
    assert "\n" not in text


def test_a_table_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a table"):
        read(write(tmp_path, "[tool]\nsteadyframe = 3\n"))
    assert read(write(tmp_path, "tool = 3\n")).cycles is None


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not valid TOML"):
        read(path)
