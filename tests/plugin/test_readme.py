"""The example of the README, in an empty folder."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from tests.plugin.world import run_pytest

README = Path(__file__).parents[2] / "README.md"


def blocks() -> list[str]:
    """The indented blocks of the section."""
    section = README.read_text().split("\n## In pytest\n")[1].split("\n## ")[0]
    return re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", section, re.MULTILINE)


def test_example_passes_and_with_the_leaking_line_fails_and_shows_it(tmp_path: Path) -> None:
    example, leak = textwrap.dedent(blocks()[0]).lstrip(), blocks()[1].strip()
    assert len([line for line in example.splitlines() if line]) <= 10
    file = tmp_path / "test_mine.py"
    file.write_text(example)
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 of 1 test holds its contract; 1 verification in all" in done.stdout

    before, call, after = example.partition("    def __call__(self, frame):\n")
    file.write_text(f"{before}{call}        {leak}\n{after}")
    line = 1 + f"{before}{call}".count("\n")
    done = run_pytest(tmp_path)
    assert done.returncode == 1, done.stdout
    assert "steady-growth" in done.stdout
    assert f"  test_mine.py:{line} in __call__" in done.stdout
    assert re.search(rf"^ *> +{line} \|  +{re.escape(leak)}$", done.stdout, re.MULTILINE)
