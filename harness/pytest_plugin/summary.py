"""What pytest's summary and JUnit's properties say of the verifications of a test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from harness.words import plural

if TYPE_CHECKING:
    from harness.gate.results import CaseResult
    from harness.result import Report

_PREFIX = "steadyframe."
_SENTENCE = _PREFIX + "summary"
_BASELINE = _PREFIX + "baseline"
_UNLIKE = _PREFIX + "baseline_summary"
_DRAWN = "neither held against the baseline nor recorded: Hypothesis draws anew each time"


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


def compared(results: Sequence[CaseResult | None]) -> Iterator[tuple[str, str]]:
    """How a test stands to the baseline, by the worst of its results; None is one without any."""
    if not results:
        return
    from harness.gate.results import EXIT
    from harness.report.gate import MEANING, in_words

    held = [result for result in results if result is not None]
    if not held:
        yield _BASELINE, "not held"
        yield _UNLIKE, _DRAWN
        return
    worst = max(held, key=lambda result: list(EXIT).index(result.status))
    yield _BASELINE, worst.status
    if worst.status not in ("same", "recorded"):
        differences = [in_words(one) for one in worst.differences if one.differs]
        said = ": ".join((MEANING[worst.status], *differences[:1]))
        remedy = f"; record what is better: {worst.command}" if worst.status == "better" else ""
        yield _UNLIKE, said + remedy


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
    shown += [f"{told[_UNLIKE]}  [{nodeid}]" for nodeid, told in said if _UNLIKE in told]
    if said and not verbose and verdicts["pass"]:
        runs = sum(int(told[_PREFIX + "verifications"]) for _, told in said)
        tests = f"{verdicts['pass']} of {plural(len(said), 'test')}"
        hold = "holds its contract" if len(said) == 1 else "hold their contracts"
        shown.append(f"{tests} {hold}; {plural(runs, 'verification')} in all")
    held = [told[_BASELINE] for _, told in said if _BASELINE in told]
    if same := held.count("same"):
        shown.append(f"{same} of {len(held)} tests count as recorded in the baseline")
    return shown
