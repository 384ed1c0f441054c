"""One measurement held against what is recorded: a pure function, and what it says in data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.baseline import Baseline
from harness.gate.case import Case
from harness.gate.counts import Counts, SiteCount, portable, same_plan, site_count, totals
from harness.gate.fingerprint import Fingerprint
from harness.gate.metrics import STEADY_RULE, Key, Metric, metrics
from harness.gate.results import CaseResult, Difference, SiteChange, Status
from harness.gate.violations import marked, unchanged
from harness.owners import BACKEND
from harness.report.text import ranges
from harness.result import Finding, Report
from harness.sites import GROWTH, STEADY
from harness.words import plural

_MOST_STACK = 6
_MOST_FINDINGS = 3
_ZERO = Metric(0, "nothing")


def hold(
    known: Baseline, case: Case, report: Report, measured: Counts, here: Fingerprint, root: Path
) -> tuple[CaseResult, Report]:
    """Hold a case against a baseline, which may not have it, or another one of its name.

    With what is said of it comes the report, its findings told as new, updated or unchanged where
    there is a record to hold them against.
    """
    entry = known.cases.get(case.name)
    if entry is None:
        why = "the baseline does not have it"
        return CaseResult(case.name, "missing", why=(why,), command=_record(case)), report
    if entry.case != case:
        pairs = ((name, getattr(case, name), getattr(entry.case, name))
                 for name in Case.__struct_fields__)  # fmt: skip
        unlike = [f"{name} {now} (recorded: {then})" for name, now, then in pairs if now != then]
        why = f"it is declared otherwise than it was when it was recorded: {'; '.join(unlike)}"
        return CaseResult(case.name, "changed", why=(why,), command=_record(case)), report
    return compare(case, report, measured, here, known.records(case.name), root)


def compare(
    case: Case,
    report: Report,
    measured: Counts,
    here: Fingerprint,
    recorded: list[tuple[Fingerprint, Counts]],
    root: Path,
) -> tuple[CaseResult, Report]:
    """Hold the counts of a case against those recorded of the very same case, one at the least.

    Each number is held against the record that it can be expected to equal here; where there is
    none, zeros still are, as zero is claimed of every place.
    """
    there, old = max(recorded, key=lambda record: _nearness(here, record[0]))
    if not same_plan(measured, old):
        why = (f"it was recorded of {old.workload}, and now is {measured.workload}, or its steps "
               "are other ones: no count can be compared",)  # fmt: skip
        return CaseResult(case.name, "changed", why=why, command=_record(case)), report
    report = marked(report, old, root)
    found = list(_differences(metrics(measured), metrics(old), here, there))
    sites = _site_changes(report, old, {d.kind for d in found if d.after > d.before}, root)
    status = _status(found)
    command = _closer(report, found) if status == "worse" else _record(case)
    result = CaseResult(
        case.name,
        status,
        tuple(found),
        sites,
        tuple(_sentences(status, report, measured, here, there, found)),
        "" if status == "same" else command,
        measured.holds,
        unchanged(report) if status == "worse" else 0,
    )
    return result, report


def _nearness(here: Fingerprint, there: Fingerprint) -> tuple[bool, bool, bool]:
    return here == there, here.meets(there, "kernels"), here.meets(there, "versions")


def _differences(
    now: dict[Key, Metric], then: dict[Key, Metric], here: Fingerprint, there: Fingerprint
) -> Iterable[Difference]:
    same_place = here == there
    for key in sorted({*now, *then}):
        new, old = now.get(key, _ZERO), then.get(key, _ZERO)
        # A zero needs nothing: whatever more there is now is more in any place.
        needs = old.needs if old.value else "nothing"
        expected = here.meets(there, needs)
        if new.value == old.value and (expected or not old.value):
            continue
        # Kernels may choose by what only the processor's name tells.
        known = expected and (same_place or needs != "kernels" or here.processor == there.processor)
        yield Difference(
            key.rule, key.owner, key.what, old.value, new.value, known=known, kind=key.kind
        )


def _status(found: list[Difference]) -> Status:
    if any(difference.worse for difference in found):
        return "worse"
    if any(not difference.known for difference in found):
        return "unknown"
    return "better" if found else "same"


def _sentences(
    status: Status,
    report: Report,
    measured: Counts,
    here: Fingerprint,
    there: Fingerprint,
    found: list[Difference],
) -> Iterable[str]:
    if status == "worse":
        worse = {difference.rule for difference in found if difference.worse}
        for rule in report.rules:
            # The lines of allocations on steady steps are compared, those of other rules told.
            if rule.status == "fail" and rule.rule in worse and rule.rule != STEADY_RULE:
                news = [found for found in rule.findings if found.baseline != "unchanged"]
                for finding in news[:_MOST_FINDINGS]:
                    yield f"{rule.rule}: {finding.text or rule.why}"
    elif measured.verdict == "fail":
        yield f"it violates {report.level}, as recorded: {', '.join(measured.rules)}"
        findings = [finding for rule in report.rules for finding in rule.findings]
        if others := sum(finding.baseline == "new" for finding in findings):
            yield f"{plural(others, 'finding')} at lines that are not recorded, in place of others"
    if any(not difference.known for difference in found):
        lines = here.differences(there) or [f"processor {here.processor!r} ({there.processor!r})"]
        yield f"not recorded for this environment: {'; '.join(lines)}"


def _site_changes(
    report: Report, old: Counts, kinds: set[str], root: Path
) -> tuple[SiteChange, ...]:
    """The lines of these kinds that count for more than they did, the largest rise first."""
    before = totals(old.sites)
    risen = []
    for kind in sorted(kinds - {""}):
        for finding in report.sites[kind]:
            site = site_count(kind, finding, root)
            blocks, size = before.get(site.key, (0, 0))
            if site.blocks > blocks or site.bytes > size:
                risen.append(_change(site, finding, (blocks, size), root))
    return tuple(sorted(risen, key=lambda c: (c.before[0] - c.after[0], c.before[1] - c.after[1])))


def _change(site: SiteCount, finding: Finding, before: tuple[int, int], root: Path) -> SiteChange:
    return SiteChange(
        site.kind,
        site.owner,
        f"{site.file}:{finding.line} in {site.function}",
        site.code,
        ranges(finding.frames),
        before,
        (site.blocks, site.bytes),
        tuple(
            f"{portable(file, root)}:{line} in {function}"
            for function, file, line in finding.stack[:_MOST_STACK]
        ),
    )


def _closer(report: Report, found: list[Difference]) -> str:
    """The command that shows the lines of what became worse, whoever's they are."""
    level = report.level
    worse = [difference for difference in found if difference.worse]
    if any(d.kind == STEADY and d.owner != BACKEND for d in worse):
        level = "zero-malloc"
    elif level == "zero-growth" and any(d.kind in (STEADY, GROWTH) for d in worse):
        level = "zero-owned"  # zero-growth allows them, and would not show them
    return re.sub(r"--level \S+", f"--level {level}", report.replay)


def _record(case: Case) -> str:
    return f"steadyframe gate --update --only {case.name}"
