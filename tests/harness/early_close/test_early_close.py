"""What is left behind by a close with frames in flight is held against the backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.result import Finding, Report
from harness.verify import verify

PLANTED = Path(__file__).with_name("planted.py")
WORKLOAD = "64x64@100*40"


def line_of(text: str) -> int:
    (line,) = [n for n, code in enumerate(PLANTED.read_text().splitlines(), 1) if text in code]
    return line


def verified(name: str, timeout: float = 60.0) -> Report:
    return verify(f"{PLANTED}:{name}", WORKLOAD, timeout=timeout)


def the_findings(report: Report) -> dict[str, list[Finding]]:
    """All findings by rule."""
    assert report.verdict == "fail"
    return {rule.rule: list(rule.findings) for rule in report.rules if rule.findings}


def test_sound_backend_passes() -> None:
    assert verified("Sound").verdict == "pass"


def test_queue_that_close_leaves_behind_is_named() -> None:
    report = verified("LeavesQueue")
    (found,) = the_findings(report).values()
    own = {finding.line: finding for finding in found if finding.owner == "backend"}
    queue = own[line_of("_open[id(self)] = deque()")]
    # Three cycles end early.
    assert queue.count == 3
    assert queue.kind == "leak-per-cycle"
    assert queue.text.startswith("closed with frames in flight, open of cycle 2 and 2 more: ")
    frames = [finding for finding in found if finding.owner == "source"]
    assert {finding.kind for finding in frames} == {"input-kept"}
    # The four frames of a step at 100 fps, each time, and what numpy has with them.
    assert sum(finding.bytes for finding in frames) >= 12 * 64 * 64 * 3
    (rule,) = [rule for rule in report.rules if rule.rule == "teardown-release"]
    assert rule.measured == sum(finding.bytes for finding in found)


def test_thread_that_close_leaves_behind_is_named() -> None:
    found = the_findings(verified("LeavesThread"))
    (thread,) = found["teardown-resources"]
    assert thread.kind == "thread"
    assert thread.line == line_of("threading.Event().wait()")
    assert thread.text.startswith("closed with frames in flight, 3 threads left behind")


@pytest.mark.parametrize(
    ("name", "kind", "line", "words"),
    [
        ("Crashes", "crash", "os.abort()", "SIGABRT"),
        ("Hangs", "hang", "time.sleep(1000)", "no progress"),
        ("Raises", "no-end", "raise RuntimeError", "RuntimeError: frames are in flight"),
    ],
)
def test_close_that_comes_to_no_end_is_told_at_its_line(
    name: str, kind: str, line: str, words: str
) -> None:
    found = the_findings(verified(name, timeout=3.0))
    (finding,) = found["teardown-release"]
    assert finding.kind == f"{kind}-at-early-close"
    assert (Path(finding.file), finding.line) == (PLANTED, line_of(line))
    assert finding.text.startswith("closed with frames in flight, ")
    assert words in finding.text
    assert "in close, cycle 2, frame 3" in finding.text
