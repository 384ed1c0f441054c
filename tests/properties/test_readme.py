"""The property test of the README runs as it stands there, and finds what it is to find."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def block(heading: str, number: int = 0) -> str:
    """An indented block of the README's section under this heading, without its indent."""
    section = (ROOT / "README.md").read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    blocks = re.findall(r"(?:^(?: {4}.*)?\n)+", section, re.MULTILINE)
    code = [one for one in blocks if one.strip()]
    return "\n".join(line[4:] for line in code[number].strip("\n").splitlines()) + "\n"


def test_it_finds_the_shortest_workload_that_shows_the_fault(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(block("Test your own backend"))
    (tmp_path / "test_mine.py").write_text(block("Property tests"))
    same = ["--hypothesis-seed=0"]  # the same draws each time: not all shrink as far
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *same, "test_mine.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    # Eight frames are warm-up: the ninth is the first that may not allocate. But a copy of a page
    # may not be made for the second one. From either, no single step leads to the other.
    told = re.search(r"AssertionError: (steadyframe verify .*)$", done.stdout, re.MULTILINE)
    assert told is not None, done.stdout
    assert told[1] in [
        f"steadyframe verify mine.py:open_mine --workload '{least}' "
        "--level zero-owned --cycles 3 --quick"
        for least in ("1x1@25*9", "342x1@25*2")
    ]
