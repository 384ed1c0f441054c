"""Two runs compared, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from harness.report.diff import Diff, headline
from harness.report.markdown import literal, table
from harness.report.verdict import WORDS


def to_markdown(found: Diff) -> str:
    """The comparison, for a comment on a change or the summary of a job."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Diff) -> Iterator[str]:
    yield f"## steadyframe: {literal(found.after.target)} compared"
    yield ""
    before, after = WORDS[found.before.verdict], WORDS[found.after.verdict]
    yield f"**{headline(found)}** Verdict: {before} before, {after} after."
    yield ""
    for caution in found.cautions:
        yield f"- not the same: {literal(caution)}"
    for title, changes in found.parts:
        if changes:
            rows = [(c.direction, c.name, c.what, c.before, c.after) for c in changes]
            yield from ("", f"### By {title}", "")
            yield from table(("", title, "what", "before", "after"), rows)
