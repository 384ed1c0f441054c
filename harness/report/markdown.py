"""Reports as Markdown: a comment on a change, or the summary of a job.

Foreign text cannot make structure, links or mentions: what means something in Markdown is written
as a character reference, which means itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from harness.report.advice import Advice, advice
from harness.report.findings import numbers, place
from harness.report.numbers import numbers_of
from harness.report.text import clean
from harness.report.verdict import WORDS, sentence, worst
from harness.result import Finding, Report, RuleResult
from harness.words import plural

MOST_FINDINGS = 5
"""of one rule in one case"""
MOST_CHARACTERS = 60_000
"""A comment that is longer than 65,536 is refused by the services that show them."""
_LONGEST_TEXT = 600
_MEANS_SOMETHING = re.compile(r"[\\`*_{}\[\]<>&#|~@!$^]|:(?=//)|(?<=www)\.")


def to_markdown(cases: Sequence[tuple[str, Report]]) -> str:
    """The cases as a table, then what was found in each that does not hold its contract."""
    verdict = worst(report for _, report in cases)
    held = sum(report.verdict == "pass" for _, report in cases)
    head = [
        f"## steadyframe: {WORDS[verdict]}",
        "",
        f"{held} of {len(cases)} cases hold their contract.",
        "",
        *table(
            ("case", "verdict", "steady steps", "allocations per steady step", "growth events",
             "survivors", "time"),
            [_row(name, report) for name, report in cases],
        ),
    ]  # fmt: skip
    blocks = [block for name, report in cases for block in _blocks(name, report)]
    text = "\n".join(head) + "\n"
    for number, block in enumerate(blocks):
        if len(text) + len(block) > MOST_CHARACTERS:
            left = plural(len(blocks) - number, "more part")
            return f"{text}\nThis is too long: {left} of it are in the HTML and JSON reports.\n"
        text += block
    return text


def literal(text: str) -> str:
    """Foreign text that shows as it is, on one line."""
    return _MEANS_SOMETHING.sub(lambda found: f"&#{ord(found[0])};", clean(text))


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table; the cells of its rows are taken for foreign text."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join('<br>'.join(map(literal, cell.split(chr(10)))) for cell in row)} |"


def _row(name: str, report: Report) -> Sequence[str]:
    found = numbers_of(report)
    return (
        clean(name),
        WORDS[report.verdict],
        found.steady,
        "\n".join(map(clean, found.allocations)),
        found.growth,
        found.survivors,
        found.time,
    )


def _blocks(name: str, report: Report) -> Iterator[str]:
    """What is said of a case that does not pass, in parts that may be left out from the end."""
    if report.verdict == "pass":
        return
    told: set[Advice] = set()
    yield f"\n### {literal(name)}\n\n{literal(sentence(report))}\n"
    if report.failure is not None:
        yield f"\n{literal(report.failure.text[:_LONGEST_TEXT])}\n"
    for rule in report.rules:
        if rule.status != "fail":
            continue
        for finding in rule.findings[:MOST_FINDINGS]:
            found = advice(rule.rule, finding.kind)
            yield _finding(rule, finding, found, known=found in told)
            told.add(found)
        if not rule.findings:
            yield f"\n- **{literal(rule.rule)}**: {literal(rule.why)}\n"
        if len(rule.findings) > MOST_FINDINGS:
            more = plural(len(rule.findings) - MOST_FINDINGS, "more finding")
            yield f"\n- and {more} of {literal(rule.rule)}\n"
    yield f"\nReplay: <code>{literal(report.replay)}</code>\n"


def _finding(rule: RuleResult, finding: Finding, told: Advice, *, known: bool) -> str:
    where = f" at <code>{literal(place(finding.file, finding.line))}</code>" if finding.file else ""
    lines = [
        f"\n- **{told.title}**{where} ({literal(rule.rule)})",
        literal((finding.text or rule.why)[:_LONGEST_TEXT]),
        literal(numbers(rule, finding)),
    ]
    if not known:
        lines.append(f"*{told.why}* Usual remedy: {told.remedy}")
    return "<br>".join(lines) + "\n"
