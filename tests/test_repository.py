"""The repository keeps the promises of its README, Makefile and design."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.commands import exits

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path for folder in ("backend", "harness", "tests") for path in (ROOT / folder).rglob("*.py")
)
MOST_LINES = 320
ENTRY = re.compile(r"^(?P<name>[a-z-]+):.*## (?P<help>.+)$", re.MULTILINE)

README = (ROOT / "README.md").read_text()
MAKEFILE = (ROOT / "Makefile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None, requirement
    return match[0].lower()


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, wherever in it: an import in a function counts too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            module = node.module or ""
            # `from backend import reference` imports backend.reference.
            named = module in ("backend", "harness")
            yield from (f"{module}.{alias.name}" for alias in node.names) if named else (module,)


def inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_make_alone_lists_every_target() -> None:
    phony = re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony) == sorted(match["name"] for match in ENTRY.finditer(MAKEFILE))
    # Under `make test` this make would take itself for a part of that one, and say so.
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    done = subprocess.run(
        ["make"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    shown = done.stdout.splitlines()
    assert [line.split()[1] for line in shown] == phony
    for match in ENTRY.finditer(MAKEFILE):
        assert any(line.endswith(match["help"]) for line in shown)


def test_make_targets_of_the_readme_and_of_ci_exist() -> None:
    targets = {match["name"] for match in ENTRY.finditer(MAKEFILE)}
    used = set(re.findall(r"^ +make (\w+)|`make (\w+)`", README, re.MULTILINE))
    named = {first or second for first, second in used}
    assert {"report", "test"} <= named <= targets
    ci = re.findall(r"^make (\w+)$", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert ci == ["lint", "test", "report"]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_readme_has_every_exit_code() -> None:
    for word in (*exits.EXIT_CODES.values(), exits.USAGE, exits.OUR_BUG, exits.INTERRUPTED):
        assert re.search(rf"^\| `?{word}`? ", README, re.MULTILINE), word


def test_every_direct_dependency_is_pinned_once() -> None:
    pins = [
        line.split("#")[0].strip()
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line.split("#")[0].strip()
    ]
    assert all(re.fullmatch(r"[a-z0-9._-]+==[0-9][0-9A-Za-z.]*", pin) for pin in pins), pins
    names = [name_of(pin) for pin in pins]
    project = PROJECT["project"]
    direct = {
        name_of(requirement)
        for requirement in (
            *project["dependencies"],
            *(extra for extras in project["optional-dependencies"].values() for extra in extras),
            *PROJECT["build-system"]["requires"],
        )
    }
    assert sorted(names) == sorted(direct)


def test_every_short_name_is_one_of_ours() -> None:
    for value in PROJECT["project"]["entry-points"]["steadyframe.targets"].values():
        assert re.fullmatch(r"backend\.\w+(\.\w+)*:\w+", value)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    top = path.relative_to(ROOT).parts[0]
    for module in imports(path):
        if top == "backend":
            assert not inside(module, "harness"), f"a backend knows nothing of {module}"
        if top == "harness" and inside(module, "backend"):
            assert module in ("backend.protocol", "backend.frame"), module
        if top != "tests":
            assert not inside(module, "tests"), module


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_is_too_long_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES
