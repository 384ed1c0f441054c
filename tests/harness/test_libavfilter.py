"""Filter graphs as targets: `libavfilter:GRAPH`, with the exact counts of PyAV's stock wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend import libavfilter
from harness.errors import UsageError
from harness.result import Report
from harness.verify import verify

FILE = Path(libavfilter.__file__)
WORKLOAD = "64x48@25*24,32x24@25*16"


def line_of(code: str) -> int:
    (line,) = [n for n, text in enumerate(FILE.read_text().splitlines(), 1) if code in text]
    return line


def counts(report: Report) -> set[tuple[int, int]]:
    """(allocations, bytes) of the steady steps."""
    return {(step.allocations, step.bytes) for step in report.steps if step.phase == "steady"}


@pytest.mark.parametrize("graph", ["scale=32:24", "hflip"])
def test_each_frame_through_one_filter_costs_the_same_few_allocations(graph: str) -> None:
    report = verify(f"libavfilter:{graph}", WORKLOAD, level="zero-malloc", quick=True)
    assert report.failure is None
    # Two of them are the reference that the buffer source takes to the frame.
    assert counts(report) == {(7, 1808)}
    (steady,) = [rule for rule in report.rules if rule.rule == "steady-allocations"]
    lines = {finding.line: finding.count for finding in steady.findings}
    steps = steady.findings[0].count // 5
    assert lines == {line_of("graph.vpull()"): 5 * steps, line_of("self._graph.vpush("): 2 * steps}
    native = {finding.line: finding.native for finding in steady.findings}
    assert native[line_of("self._graph.vpush(")] == (
        "av_frame_alloc < av_frame_clone < av_buffersrc_add_frame_flags"
        " < av.filter.context.FilterContext.push",
        "av_buffer_ref < av_frame_ref < av_frame_clone < av_buffersrc_add_frame_flags",
    )


def test_graph_that_is_closed_leaves_nothing() -> None:
    report = verify("libavfilter:split[a][b];[a]hflip[c];[b][c]hstack", WORKLOAD, quick=True)
    left = {rule.rule: rule.status for rule in report.rules if "release" in rule.rule}
    assert left == {"prompt-release": "pass", "teardown-release": "pass"}


def test_text_that_is_no_graph_is_bad_usage() -> None:
    with pytest.raises(UsageError, match="no filter 'hflop'"):
        verify("libavfilter:hflop", WORKLOAD, quick=True)
