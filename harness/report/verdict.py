"""The verdict of a report in one sentence."""

from __future__ import annotations

from collections.abc import Iterable

from harness.report.summary import steady_steps
from harness.result import Failure, Report, Verdict
from harness.words import plural

WORDS = {"pass": "PASS", "fail": "FAIL", "no-verdict": "NO VERDICT", "skipped": "skipped"}
SEVERITY: tuple[Verdict, ...] = ("pass", "no-verdict", "fail")
"""A violation is worse than no verdict: it is established, whatever happened to other cases."""

_KINDS = {
    "killed": "was killed",
    "raised": "raised an exception",
    "not-quiescent": "did not come to rest",
    "unmeasurable": "could not be measured",
}


def worst(reports: Iterable[Report]) -> Verdict:
    """The verdict on all of them."""
    return max((report.verdict for report in reports), key=SEVERITY.index)


def sentence(report: Report) -> str:
    """What the verdict is, and on what grounds. Foreign text in it is as it came."""
    if report.verdict == "pass":
        skipped = [rule.rule for rule in report.rules if rule.status == "skipped"]
        but = f" (not judged: {', '.join(skipped)})" if skipped else ""
        return f"{report.target} holds {report.level} over {_extent(report)}{but}."
    if report.verdict == "fail":
        broken = [
            f"{rule.rule} ({plural(len(rule.findings), 'finding')})"
            for rule in report.rules
            if rule.status == "fail"
        ]
        return f"{report.target} violates {report.level}: {', '.join(broken)}."
    if report.failure is None:
        return f"{report.target} could not be measured."
    kind = _KINDS.get(report.failure.kind, report.failure.kind)
    return f"{report.target} {kind} {_where(report.failure)}."


def _extent(report: Report) -> str:
    if report.curves:
        return "a soak run"
    if not report.workload:
        return "one block of code"
    steady = plural(len(steady_steps(report)), "steady step")
    return f"{plural(report.cycles, 'cycle')} with {steady}"


def _where(failure: Failure) -> str:
    cycle = f", cycle {failure.cycle}" if failure.cycle else ""
    frame = f"after frame {failure.frame}" if failure.frame >= 0 else "before the first frame"
    return f"in {failure.phase}{cycle}, {frame}"
