"""The command as a process: what it loads, how quick it is, and streams that fail."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = {"torch", "numpy", "av", "memray", "psutil", "rich", "msgspec"}


def python(*code: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *code], cwd=ROOT, capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize("arguments", [["--help"], ["verify", "--help"], ["verify", "--wat"]])
def test_help_and_mistakes_load_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom harness.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    loaded = python("-c", code).stderr.split()
    assert "argparse" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_list_imports_nothing_that_it_lists() -> None:
    code = "import sys\nfrom harness.cli import main\nmain(['list'])\nprint(*sys.modules)"
    text = python("-c", code).stdout
    for word in ("concat-jump", "zero-malloc", "128x128@100*50,256x256@100*50"):
        assert word in text
    loaded = text.splitlines()[-1].split()
    assert {"torch", "numpy", "av", "memray", "backend.reference"}.isdisjoint(loaded)


@pytest.mark.parametrize(("argument", "limit"), [("--help", 0.15), ("list", 0.3)])
def test_help_and_list_are_quick(argument: str, limit: float) -> None:
    def seconds() -> float:
        """Of processor time: others use the machine, too."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert python("-m", "harness", argument).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < limit


def test_version_is_one_line() -> None:
    done = python("-m", "harness", "--version")
    assert done.returncode == 0
    assert done.stdout.startswith("steadyframe ")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("arguments", [["list"], ["--help"]])
def test_reader_that_went_away_is_no_error(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=ROOT,
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_full_disk_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "steadyframe: cannot write to standard output (No space left on device)\n"
    )
