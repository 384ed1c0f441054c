"""What pytest's summary and JUnit's properties say of the verifications of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.result import Report

_PREFIX = "steadyframe."
_SENTENCE = _PREFIX + "summary"


def properties(reports: Iterable[Report]) -> Iterator[tuple[str, str]]:
    """The worst of a test's reports, the last one of equal ones, as JUnit's properties."""
    made = list(reports)
    if not made:
        return
    from harness.report.summary import BACKEND, steady_allocations
    from harness.report.verdict import WORDS, sentence, worst

    verdict = worst(made)
    report = next(report for report in reversed(made) if report.verdict == verdict)
    yield _PREFIX + "verifications", str(len(made))
    yield _SENTENCE, f"{WORDS[verdict]}  {sentence(report)}"
    for name in ("verdict", "level", "target", "workload", "replay"):
        yield _PREFIX + name, str(getattr(report, name))
    if counts := steady_allocations(report):
        yield _PREFIX + "allocations_per_steady_step", str(counts[BACKEND][1])
    yield _PREFIX + "wall_s", f"{sum(report.cost.wall_s for report in made):.1f}"


def lines(reports: Iterable[Any], *, verbose: bool) -> list[str]:
    """The section of the summary: what is not in order, and the rest as a number."""
    said = [
        (report.nodeid, told)
        for report in reports
        if getattr(report, "when", "") == "call"
        and (told := dict(report.user_properties)).get(_SENTENCE)
    ]
    verdicts = Counter(told[_PREFIX + "verdict"] for _, told in said)
    shown = [
        f"{told[_SENTENCE]}  [{nodeid}]"
        for nodeid, told in said
        if verbose or told[_PREFIX + "verdict"] != "pass"
    ]
    if said and not verbose and verdicts["pass"]:
        runs = sum(int(told[_PREFIX + "verifications"]) for _, told in said)
        tests = f"{verdicts['pass']} of {len(said)}"
        shown.append(f"{tests} tests hold their contracts; {runs} verifications in all")
    return shown
