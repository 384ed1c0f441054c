"""The gate's result as Markdown, for the summary of a job."""

from __future__ import annotations

from harness.gate.results import CaseResult, GateResult
from harness.report.gate import AS_RECORDED, MEANING, headline, in_one_line, lines, told_of
from harness.report.markdown import MOST_CHARACTERS, literal, table
from harness.words import plural


def to_markdown(result: GateResult) -> str:
    """The outcome, a table of what is not as recorded, and each case's lines."""
    told = told_of(result)
    unlike = [case for case in told if case.status not in AS_RECORDED]
    text = f"## steadyframe gate\n\n{literal(headline(result))}\n"
    if unlike:
        rows = [(case.name, MEANING[case.status], case.holds) for case in unlike]
        columns = ("case", "outcome", "strictest level that holds")
        text += "\n" + "\n".join(table(columns, rows)) + "\n"
    blocks = list(map(_block, told))
    for number, block in enumerate(blocks):
        if len(text) + len(block) > MOST_CHARACTERS:
            return f"{text}\nand {plural(len(blocks) - number, 'more case')}, in gate.json\n"
        text += block
    return text


def _block(case: CaseResult) -> str:
    if case.status in AS_RECORDED:
        return f"\n{literal(in_one_line(case))}\n"
    points = "\n".join(f"- {literal(line.strip())}" for line in lines(case))
    return f"\n**{literal(case.name)}**\n\n{points}\n"
