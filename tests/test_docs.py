"""What README and docs say is so: links, commands, files, and the findings that they show."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import cli, isolate
from harness.adapt import load
from harness.arguments import make_parser, read
from harness.cases import CLIP
from harness.commands.exits import EXIT_CODES, INTERRUPTED, OUR_BUG, USAGE
from harness.commands.report import DEFAULT_OUTPUT
from harness.report.advice import advice, known
from harness.result import LEVELS
from harness.rules import RULES
from harness.targets import resolve
from harness.workload import SCENARIOS

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, *DOCS]
FINDINGS = (ROOT / "docs/findings.md").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
LARGEST_PICTURE = 200_000

LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
BLOCK = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
IN_BLOCK = re.compile(r"^ +(?:- )?(?:\.venv/bin/)?steadyframe ([a-z].+)$", re.MULTILINE)
IN_LINE = re.compile(r"`(?:\.venv/bin/)?steadyframe ([a-z][^`]*)`")
FILE = re.compile(r"(?:backend|harness|tests|docs|\.github)/[\w./-]*[\w/]")
REPLAY = re.compile(r"(?:Replay:|Look closer:) +steadyframe (.+)$", re.MULTILINE)

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def prose(text: str) -> str:
    """A page without its indented blocks, in which a `#` or a bracket means itself."""
    return BLOCK.sub("", text)


def anchors(page: Path) -> set[str]:
    """The names that a page's headings have, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(page.read_text()), re.MULTILINE)
    names = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
    assert len(names) == len(set(names)), f"{page.name}: two headings have one anchor"
    return set(names)


def commands(text: str) -> Iterator[str]:
    for pattern in (IN_BLOCK, IN_LINE, REPLAY):
        yield from pattern.findall(text)


@each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page.read_text())):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_list_of_the_readme() -> None:
    listed = re.findall(r"^\| \[[^\]]+\]\(docs/([\w-]+\.md)\) \|", README.read_text(), re.MULTILINE)
    assert sorted(listed) == [page.name for page in DOCS]


@each_page
def test_every_command_is_understood(page: Path) -> None:
    parser = make_parser()
    for command in commands(page.read_text()):
        read(parser, shlex.split(command, comments=True))


def test_the_options_of_the_readme_name_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, *rest = blocks("README.md", "Test your own backend")
    (tmp_path / "mine.py").write_text(f"{source}\n")
    monkeypatch.chdir(tmp_path)
    lines = [line for block in rest for line in block.splitlines()]
    found = [read(make_parser(), shlex.split(line)[1:]) for line in lines]
    asked = [options for options in found if options.name == "verify"]
    for options in asked:
        assert callable(load(resolve(options.target)))
    assert {options.video for options in asked} == {None, DEFAULT_OUTPUT / CLIP}


def test_every_exit_code_is_in_the_readme_and_in_the_help() -> None:
    codes = {*EXIT_CODES.values(), USAGE, OUR_BUG, INTERRUPTED}
    table = re.findall(r"^\| (\d+) \|", README.read_text(), re.MULTILINE)
    helped = re.findall(r"\b\d+\b", make_parser().format_help().partition("exit codes:")[2])
    assert {*map(int, table)} == {*map(int, helped)} == codes


def test_there_are_commands_to_be_understood() -> None:
    found = [command for page in PAGES for command in commands(page.read_text())]
    assert {command.split()[0] for command in found} >= {"verify", "gate", "report", "inject"}
    assert len(found) > 50


@each_page
def test_every_make_target_is_there(page: Path) -> None:
    found = re.findall(r"^ +(?:- )?make ([a-z-]+)|`make ([a-z-]+)", page.read_text(), re.MULTILINE)
    assert {first or second for first, second in found} <= TARGETS


@each_page
def test_every_file_of_ours_is_there(page: Path) -> None:
    for code in re.findall(r"`([^`\n]+)`", prose(page.read_text())):
        if FILE.fullmatch(code) and "NAME" not in code:
            assert (ROOT / code).exists(), code


def test_every_level_is_in_the_table() -> None:
    text = (ROOT / "docs/levels-and-owners.md").read_text()
    for level in LEVELS:
        assert re.search(rf"^\| `{level}`", text, re.MULTILINE), level


def test_every_scenario_is_in_the_table() -> None:
    text = (ROOT / "docs/workloads.md").read_text()
    assert re.findall(r"^\| `([\w-]+)`(?: \(default\))? \|", text, re.MULTILINE) == list(SCENARIOS)


def test_every_rule_has_a_section() -> None:
    assert re.findall(r"^### ([\w-]+)$", FINDINGS, re.MULTILINE) == list(RULES)


def test_every_kind_has_the_words_of_the_reports() -> None:
    _, kinds = known()
    rows = re.findall(r"^\| `([\w-]+)` \| (.+) \| (.+) \|$", FINDINGS, re.MULTILINE)
    told = {kind: (title, remedy) for kind, title, remedy in rows}
    assert told.keys() >= kinds
    for kind in kinds:
        assert told[kind] == (advice("", kind).title, advice("", kind).remedy)


def test_pictures_are_small() -> None:
    for picture in (ROOT / "docs").glob("*.png"):
        assert picture.stat().st_size < LARGEST_PICTURE, picture.name


def examples() -> Iterator[tuple[str, str, str]]:
    """Of each rule's section: its id, the command, and the finding that is shown."""
    for section in re.split(r"^### ", FINDINGS, flags=re.MULTILINE)[1:]:
        rule = section.partition("\n")[0]
        (block,) = BLOCK.findall(section.partition("\n## ")[0])
        command, _, text = block.strip().partition("\n")
        yield rule, command.removeprefix("steadyframe "), said(text)


def said(text: str) -> str:
    """Without the breaks of its lines, which depend on the width of the terminal."""
    return " ".join(text.split())


def blocks(page: str, heading: str) -> list[str]:
    """The indented blocks of a section, without their indent."""
    section = (ROOT / page).read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [textwrap.dedent(block).strip("\n") for block in BLOCK.findall(section)]


@pytest.fixture(scope="module")
def _helpers() -> Iterator[None]:
    yield
    isolate.shutdown()


@pytest.mark.usefixtures("_helpers")
@pytest.mark.parametrize(
    ("rule", "command", "text"), list(examples()), ids=lambda value: value[:24]
)
def test_the_example_of_a_rule_is_what_its_command_finds(
    rule: str, command: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    report = tmp_path / "report.json"
    assert cli.main([*shlex.split(command), "--quiet", "--json", str(report)]) == 1
    found = {
        finding["text"].replace(f"{ROOT}/", "")
        for result in json.loads(report.read_text())["rules"]
        if result["rule"] == rule
        for finding in result["findings"]
    }
    assert text in found


@pytest.mark.usefixtures("_helpers")
def test_the_failure_of_the_readme_is_what_its_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, in_findings = blocks("docs/findings.md", "How to read one")
    (in_readme,) = blocks("README.md", "What a failure looks like")
    assert said(in_findings) in said(in_readme)
    (tmp_path / "mybackend.py").write_text(f"{source}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    (command,) = {c for c in commands(FINDINGS) if c.startswith("verify mybackend:Keeps")}
    assert cli.main([*shlex.split(command), "--no-color"]) == 1
    printed = said(capsys.readouterr().out.replace(f"{tmp_path}/", ""))
    for paragraph in in_readme.split("\n\n"):
        assert said(paragraph) in printed


@pytest.mark.usefixtures("_helpers")
def test_the_break_of_the_page_on_inject_is_what_its_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, shown = blocks("docs/inject.md", "What a break looks like")
    (tmp_path / "breaks.py").write_text(f"{source}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "1000")
    assert cli.main(["inject", "breaks.py:Grows", "--no-color"]) == 1
    printed = [said(line) for line in capsys.readouterr().out.splitlines()]
    for line in filter(None, shown.splitlines()):
        # It ends in the seconds that it took.
        whole = said(line).rpartition("; ")[0] if line.endswith(" s.") else said(line)
        assert any(other.startswith(whole) for other in printed), line


def test_the_mistake_on_the_page_on_workloads_is_told_like_that(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (shown,) = (b for b in blocks("docs/workloads.md", "Text") if b.startswith("steadyframe:"))
    assert cli.main(["verify", "mine.py:open_mine", "--workload", "128x128@100x50"]) == 2
    assert capsys.readouterr().err.strip() == shown
