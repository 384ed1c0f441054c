"""The wheel as it is built from these sources, and an environment that has it instead of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "backend", "harness", "tests", "reports")


@dataclass(frozen=True)
class Elsewhere:
    """An environment with the wheel, and an empty folder to work in."""

    environment: Path
    folder: Path

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command of the environment in the folder, and hold it to its exit code."""
        hidden = ("PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "GITHUB_STEP_SUMMARY")
        done = subprocess.run(
            [self.environment / "bin" / command[0], *command[1:]],
            cwd=self.folder,
            env={name: value for name, value in os.environ.items() if name not in hidden},
            capture_output=True,
            text=True,
            timeout=1800,
        )
        assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since setuptools leaves folders beside what it builds from."""
    copy, made = tmp_path_factory.mktemp("sources"), tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.h264")
            )
        else:
            shutil.copy(ROOT / name, copy)
    pip(sys.executable, "wheel", "--no-build-isolation", "-w", str(made), str(copy))
    [path] = made.iterdir()
    return path


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Has the wheel, and links to all that is installed here but the sources."""
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin/python"
    asked = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([python, "-c", asked], text=True).strip())
    for place in {Path(sysconfig.get_path(kind)) for kind in ("purelib", "platlib")}:
        for entry in place.iterdir():
            ours = entry.name.startswith(("steadyframe-", "__editable__"))
            if not ours and entry.suffix != ".pth" and entry.name != "__pycache__":
                (packages / entry.name).symlink_to(entry)
    pip(str(python), "install", str(wheel))
    return folder


@pytest.fixture
def elsewhere(environment: Path, tmp_path: Path) -> Elsewhere:
    return Elsewhere(environment, tmp_path)


def pip(python: str, command: str, *arguments: str) -> None:
    """Call pip for an environment; it asks no index for anything."""
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check", command,
         "-q", "--no-deps", "--no-index", *arguments],
        check=True,
    )  # fmt: skip
