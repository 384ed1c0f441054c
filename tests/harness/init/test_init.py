"""The command: what it writes works as it is written, and nothing of the project's is lost."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from harness import config
from tests.harness.init import projects
from tests.harness.init.projects import init, run, tree, write

PACKAGE = {
    "src/pkg/__init__.py": "",
    "src/pkg/scale.py": "FACTOR = 2\n",
    "src/pkg/filters.py": "from .scale import FACTOR\n" + projects.OPENS,
    "tests/test_other.py": "",
    "pyproject.toml": '[project]\nname = "pkg"\n\n[tool.other]\nkey = 1  # kept',
}


@pytest.mark.parametrize(
    ("files", "target", "test"),
    [
        ({"mine.py": projects.INFER}, "mine.py:infer", "test_steady.py"),
        (PACKAGE, "pkg.filters:open_filter", "tests/test_steady.py"),
    ],
    ids=["file", "package"],
)
def test_what_is_written_is_named(
    files: dict[str, str], target: str, test: str, tmp_path: Path
) -> None:
    done = init(write(tmp_path, files))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == f"for {target}:"
    assert [line.split()[1].rstrip(":") for line in lines[1:4]] == [
        test, "pyproject.toml", ".github/workflows/steadyframe.yml",
    ]  # fmt: skip
    command = shlex.split(lines[4].removeprefix("next: "))
    assert command[1:] == ["-m", "pytest", test]

    project = config.read(tmp_path / "pyproject.toml")
    assert {case.target for case in project.cases} == {target}


def test_what_is_written_passes_as_it_is(tmp_path: Path) -> None:
    assert init(write(tmp_path, PACKAGE)).returncode == 0
    done = run(tmp_path, "pytest", "-p", "no:cacheprovider", "tests/test_steady.py")
    assert done.returncode == 0, done.stdout
    assert "3 of 3 tests hold their contracts" in done.stdout


def test_what_is_written_fails_where_the_backend_leaks(tmp_path: Path) -> None:
    leaks = projects.INFER.replace(
        "(frame):\n", "(frame, kept=[]):\n    kept.append(bytearray(99))\n"
    )
    assert init(write(tmp_path, {"mine.py": leaks})).returncode == 0
    done = run(tmp_path, "pytest", "-p", "no:cacheprovider", "test_steady.py")
    assert done.returncode == 1, done.stdout
    assert "3 failed" in done.stdout
    assert re.search(r"mine\.py:\d+ in infer", done.stdout)


def test_nothing_else_in_pyproject_changes(tmp_path: Path) -> None:
    assert init(write(tmp_path, PACKAGE)).returncode == 0
    text = (tmp_path / "pyproject.toml").read_text()
    assert text.startswith(PACKAGE["pyproject.toml"] + "\n\n[tool.steadyframe]\n")
    assert tomllib.loads(text)["project"] == {"name": "pkg"}


def test_a_second_time_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"mine.py": projects.INFER})
    assert init(tmp_path).returncode == 0
    before = tree(tmp_path)
    done = init(tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "--force" in done.stderr
    assert tree(tmp_path) == before

    assert init(tmp_path, "--force").returncode == 0
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "file", ["test_steady.py", ".github/workflows/steadyframe.yml", "pyproject.toml"]
)
def test_a_file_that_is_there_is_left_and_named(file: str, tmp_path: Path) -> None:
    before = write(tmp_path, {"mine.py": projects.INFER, file: "[tool.steadyframe]\n"})
    text = tree(before)
    done = init(tmp_path)
    assert done.returncode == 2
    assert file in done.stderr
    assert tree(tmp_path) == text


def test_force_replaces_the_section_alone(tmp_path: Path) -> None:
    old = (
        "[tool.steadyframe]\nlevel = 'zero-growth'\n\n[[tool.steadyframe.cases]]\ntarget = 'm:f'\n"
        "\n[tool.other]\nkey = [\n  1,\n]\n"
    )
    write(tmp_path, {"mine.py": projects.INFER, "pyproject.toml": old})
    assert init(tmp_path, "--force").returncode == 0
    tool = tomllib.loads((tmp_path / "pyproject.toml").read_text())["tool"]
    assert tool["other"] == {"key": [1]}
    assert tool["steadyframe"]["level"] == "zero-owned"
    assert [case["target"] for case in tool["steadyframe"]["cases"]] == ["mine.py:infer"]


@pytest.mark.parametrize(
    ("pyproject", "says"),
    [
        ("[tool", "not valid TOML"),
        ("tool = { other = 1 }\n", "can't be added"),
        ("[tool]\nsteadyframe = { level = 'zero-growth' }\n", "can't be added"),
    ],
)
def test_a_pyproject_that_cannot_be_added_to_is_told(
    pyproject: str, says: str, tmp_path: Path
) -> None:
    write(tmp_path, {"mine.py": projects.INFER, "pyproject.toml": pyproject})
    before = tree(tmp_path)
    done = init(tmp_path, "--force")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no backend was found in 0 Python files"),
        ({"a.py": projects.INFER, "b.py": projects.INFER}, "a.py:infer, b.py:infer"),
        (
            {"a.py": projects.PROTOCOL.replace("nireq=1", "model")},
            "a.py:Filter needs arguments (model)",
        ),
    ],
)
def test_without_one_backend_it_asks_for_its_name(
    files: dict[str, str], says: str, tmp_path: Path
) -> None:
    done = init(write(tmp_path, files))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert tree(tmp_path) == files


@pytest.mark.parametrize(
    ("target", "written"),
    [
        ("b.py:infer", "/b.py:infer"),
        ("identity", "identity"),
        ("libavfilter:hflip", "libavfilter:hflip"),
        ("elsewhere.filters:open_it", "elsewhere.filters:open_it"),
    ],
)
def test_a_target_that_is_given_is_taken(target: str, written: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.py": projects.INFER, "b.py": projects.INFER})
    done = init(tmp_path, target)
    assert done.returncode == 0, done.stderr
    assert f'"{written}"' in (tmp_path / "test_steady.py").read_text()


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("a.py:nothing", "a.py has no nothing"),
        ("b.py:infer", "there is no file 'b.py'"),
        ("bad.py:infer", "bad.py can't be parsed"),
        ("nonsense", "no target is called 'nonsense'"),
    ],
)
def test_a_target_that_is_none_is_told(target: str, says: str, tmp_path: Path) -> None:
    files = write(tmp_path, {"a.py": projects.INFER, "bad.py": "def ("})
    before = tree(files)
    done = init(tmp_path, target)
    assert done.returncode == 2
    assert says in done.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "files",
    [
        {".gitlab-ci.yml": "stages: [test]\n"},
        {".git/config": '[remote "origin"]\n\turl = git@gitlab.example.org:me/mine.git\n'},
    ],
)
def test_a_project_on_gitlab_gets_its_own_job(files: dict[str, str], tmp_path: Path) -> None:
    done = init(
        write(tmp_path, {"mine.py": projects.INFER, "requirements.txt": "numpy\n", **files})
    )
    assert "add to .gitlab-ci.yml: include: .gitlab/steadyframe.yml" in done.stdout
    job = (tmp_path / ".gitlab/steadyframe.yml").read_text()
    assert "pip install steadyframe pytest -r requirements.txt\n" in job
    assert not (tmp_path / ".github").exists()
    assert "@" not in job


def test_the_job_runs_the_test_that_is_written(tmp_path: Path) -> None:
    assert init(write(tmp_path, PACKAGE)).returncode == 0
    job = (tmp_path / ".github/workflows/steadyframe.yml").read_text()
    assert "run: pip install steadyframe pytest -e .\n" in job
    assert "run: pytest tests/test_steady.py --steady-report reports/steady\n" in job
    assert "${{ !cancelled() }}" in job
