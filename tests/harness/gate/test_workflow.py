"""The workflow, and the snippet for CI in docs/gate.md, call what there is."""

from __future__ import annotations

import re
from pathlib import Path

from harness.arguments import make_parser, read

ROOT = Path(__file__).parents[3]
WORKFLOW = (ROOT / ".github" / "workflows" / "gate.yml").read_text()
PAGE = (ROOT / "docs" / "gate.md").read_text()


def commands(text: str) -> list[str]:
    called = re.findall(
        r"^ +(?:- |run: )(?:run: )?\.venv/bin/steadyframe (.+)$", text, re.MULTILINE
    )
    return [re.sub(r"\$\{\{.*?\}\}", "", words) for words in called]


def test_every_command_is_understood() -> None:
    for text in (WORKFLOW, PAGE):
        found = commands(text)
        assert [words.split()[0] for words in found] == ["gate", "report"]
        for words in found:
            read(make_parser(), words.split())


def test_it_runs_where_the_baseline_was_recorded() -> None:
    images = set(re.findall(r"^ +(?:container|image): (\S+)$", WORKFLOW + PAGE, re.MULTILINE))
    assert images == {"python:3.11-bookworm"}
    recorded = (ROOT / "reports" / "baseline.json").read_text()
    assert '"python": "3.11"' in recorded
    assert '"libc": "glibc 2.36"' in recorded  # bookworm's
    for name in ("torch", "numpy", "memray"):
        (pin,) = re.findall(
            rf"^{name}==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE
        )
        assert f'"{name}": "{pin}"' in recorded
