"""The Markdown summary: short enough for a comment, and no foreign text makes structure in it."""

from __future__ import annotations

import pytest

from harness.report.markdown import MOST_CHARACTERS, MOST_FINDINGS, literal, table, to_markdown
from harness.result import Failure

HOSTILE = "`a` **b** _c_ ~d~ [e](http://x) ![f](g) <script> & | @me #12 $x$ www.x.org \\ \n\0\udcff"


def test_a_pass_is_a_table_alone(make_report) -> None:
    assert to_markdown([("mine", make_report())]).splitlines() == [
        "## steadyframe: PASS",
        "",
        "1 of 1 cases hold their contract.",
        "",
        "| case | verdict | steady steps | allocations per steady step | growth events"
        " | survivors | time |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| mine | PASS | 18 | backend 0<br>model 1,204 | 1 | 0 | 1.2 s |",
    ]


def test_a_failure_names_place_numbers_and_remedy_once(make_failed, make_finding) -> None:
    found = [make_finding(kind="churn", line=line) for line in (3, 4)]
    text = to_markdown([("mine", make_failed(*found))])
    assert "### mine" in text
    assert "<code>/nowhere/mine.py:3</code> (steady-allocations)<br>One tensor of 49,152" in text
    assert "<code>/nowhere/mine.py:4</code>" in text
    assert "1,234 allocations, 8,257,536 bytes" in text
    assert text.count("Usual remedy: Make it once") == 1
    assert "Replay: <code>steadyframe verify my.module:factory" in text


def test_no_verdict_says_why(make_report) -> None:
    failure = Failure("crashed", "execute", 1, 3, "It crashed by signal 11.")
    text = to_markdown([("mine", make_report(verdict="no-verdict", failure=failure, rules=()))])
    assert "## steadyframe: NO VERDICT" in text
    assert "It crashed by signal 11." in text


def test_more_findings_than_shown_are_counted(make_failed, make_finding) -> None:
    found = [make_finding(line=line) for line in range(1, MOST_FINDINGS + 4)]
    text = to_markdown([("mine", make_failed(*found))])
    assert text.count("<code>/nowhere/mine.py:") == MOST_FINDINGS
    assert "and 3 more findings of steady-allocations" in text


def test_too_much_for_a_comment_is_cut_and_it_says_so(make_failed, make_finding) -> None:
    bad = make_failed(*(make_finding(text="x" * 5000, line=line) for line in range(5)))
    text = to_markdown([(f"case {number}", bad) for number in range(60)])
    assert len(text) < 65_536
    assert len(text) > MOST_CHARACTERS / 2
    assert "This is too long" in text


@pytest.mark.parametrize("character", "\\`*_{}[]<>&#|~@!$^")
def test_what_means_something_is_written_as_a_reference(character: str) -> None:
    assert literal(f"a{character}b") == f"a&#{ord(character)};b"


def test_addresses_are_no_links() -> None:
    assert "://" not in literal("http://x.org")
    assert "www." not in literal("see www.x.org")
    assert literal("a.py:3, b: c.") == "a.py:3, b: c."


def test_hostile_text_makes_no_structure(make_failed, make_finding) -> None:
    found = make_finding(text=HOSTILE, file=HOSTILE, function=HOSTILE, owner=HOSTILE)
    report = make_failed(found, rule=HOSTILE, target=HOSTILE, replay=HOSTILE)
    text = to_markdown([(HOSTILE, report)])
    text.encode()
    for sign in ("`", "[", "<script", "@me", " #12", "$", "\0", "~"):
        assert sign not in text, sign
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [row.count("|") for row in rows] == [8, 8, 8]


def test_lines_of_a_cell_stay_in_it() -> None:
    assert list(table(("a",), [("one\ntwo",)]))[-1] == "| one<br>two |"
