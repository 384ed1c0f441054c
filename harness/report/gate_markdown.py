"""The gate's result as Markdown, for the summary of a job."""

from __future__ import annotations

from harness.gate.results import GateResult
from harness.report.gate import MEANING, headline, lines
from harness.report.markdown import MOST_CHARACTERS, literal, table
from harness.report.text import plural


def to_markdown(result: GateResult) -> str:
    """The outcome, a table of what is not as recorded, and each case's lines."""
    unlike = [case for case in result.results if case.status not in ("same", "recorded")]
    text = f"## steadyframe gate\n\n{literal(headline(result))}\n"
    if unlike:
        rows = [(case.name, MEANING[case.status], case.holds) for case in unlike]
        columns = ("case", "outcome", "strictest level that holds")
        text += "\n" + "\n".join(table(columns, rows)) + "\n"
    blocks = [
        f"\n**{literal(case.name)}**\n\n"
        + "\n".join(f"- {literal(line.strip())}" for line in lines(case))
        + "\n"
        for case in result.results
        if case in unlike or case.why
    ]
    for number, block in enumerate(blocks):
        if len(text) + len(block) > MOST_CHARACTERS:
            return f"{text}\nand {plural(len(blocks) - number, 'more case')}, in gate.json\n"
        text += block
    return text
