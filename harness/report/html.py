"""The report as web pages: one for each case, and one that lists all cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from harness.report import ledger
from harness.report.advice import advice
from harness.report.arena import arena_plots
from harness.report.capacity import capacity_plots
from harness.report.excerpt import dedented, excerpt
from harness.report.findings import numbers, place
from harness.report.numbers import CaseNumbers, numbers_of
from harness.report.pages import page
from harness.report.plots import plots
from harness.report.sites import sites
from harness.report.subject import fed, options, subject, title
from harness.report.summary import amounts, steady_groups
from harness.report.svg import sparkline
from harness.report.text import allocations, clean, ranges, uri
from harness.report.thinning import MOST_STEPS
from harness.report.verdict import SEVERITY, WORDS, sentence, worst
from harness.result import Finding, Report, RuleResult
from harness.words import plural

MOST_FINDINGS = 50
"""of one rule; the JSON report has all"""
MOST_GROUPS = 40
MOST_SITES = 20
MOST_DETAIL = 200
"""last lines shown of a child's stderr or stacks"""


class Entry(NamedTuple):
    """One case as the list of all shows it."""

    name: str
    report: Report
    page: str
    """file of its page, beside the list"""
    json: str
    """file of its JSON report"""


def case_page(name: str, report: Report, *, home: str = "", embed: bool = False) -> str:
    """The page of one case; `home` is the page that lists all, `embed` as in `pages.page`.

    Source lines are read from the files that the findings name, where they can be read.
    """
    drawn = [*plots(report), *capacity_plots(report), *arena_plots(report)]
    groups = [(cycles, group) for cycles, inside in steady_groups(report) for group in inside]
    left = sites(report)
    return page(
        "case.html",
        embed=embed,
        title=title(name, report),
        name=name,
        home=home,
        report=report,
        about=[*subject(report), *_extent(report)],
        rules=sorted(report.rules, key=lambda rule: ("fail", "skipped", "pass").index(rule.status)),
        word=WORDS[report.verdict],
        words=WORDS,
        amounts=amounts,
        sentence=sentence(report),
        detail=_detail(report),
        findings=[group for rule in report.rules for group in _faults(rule)],
        findings_left_out=sum(max(0, len(r.findings) - MOST_FINDINGS) for r in report.rules),
        plots=drawn,
        figures={plot.name: plot.figure for plot in drawn},
        thinned=len(report.steps) > MOST_STEPS,
        groups=[
            {
                "cycles": ranges(cycles),
                "steps": ranges(group.steps),
                "size": f"{group.width}x{group.height}",
                "frames": f"{group.burst:,}",
                "counts": [f"{o} {allocations(count, size)}" for o, count, size in group.by_owner],
            }
            for cycles, group in groups[:MOST_GROUPS]
        ],
        groups_left_out=max(0, len(groups) - MOST_GROUPS),
        ledger=ledger.ledger(report.teardown),
        ledger_columns=ledger.COLUMNS,
        ledger_caption=ledger.CAPTION,
        sites=left[:MOST_SITES],
        sites_left_out=max(0, len(left) - MOST_SITES),
        flamegraph=_flamegraph(report),
        environment=_environment(report),
    )


def index_page(entries: Sequence[Entry]) -> str:
    """The page that lists all cases, the worst first."""
    entries = sorted(entries, key=lambda entry: SEVERITY.index(entry.report.verdict), reverse=True)
    verdict = worst(entry.report for entry in entries)
    held = sum(entry.report.verdict == "pass" for entry in entries)
    return page(
        "index.html",
        title=f"{WORDS[verdict]} steadyframe memory reports",
        verdict=verdict,
        word=WORDS[verdict],
        sentence=f"{held} of {len(entries)} cases hold their contract.",
        cases=[_entry(entry, numbers_of(entry.report)) for entry in entries],
    )


def _entry(entry: Entry, found: CaseNumbers) -> dict[str, Any]:
    report = entry.report
    live = [step.live_bytes for step in report.steps]
    failed = [rule.rule for rule in report.rules if rule.status == "fail"]
    return {
        "name": entry.name,
        "page": uri(entry.page),
        "json": uri(entry.json),
        "verdict": report.verdict,
        "word": WORDS[report.verdict],
        "broken": ", ".join(failed),
        "steady": found.steady,
        "allocations": found.allocations,
        "growth": found.growth,
        "survivors": found.survivors,
        "about": _about(entry),
        "sparkline": sparkline(live, f"live bytes over {len(live)} steps"),
        "scale": [f"{live[0]:,} to {live[-1]:,}", f"at most {max(live):,}"] if live else [],
        "time": found.time,
    }


def _about(entry: Entry) -> list[str]:
    """What was run, in lines."""
    report = entry.report
    target = "" if report.target == entry.name else report.target
    held_to = f"{report.level}, {plural(report.cycles, 'cycle')}"
    return [", ".join(filter(None, (target, fed(report), options(report)))), held_to]


def _extent(report: Report) -> list[tuple[str, str]]:
    """How much was measured, and what that took."""
    traced = [("steps", f"{len(report.steps):,}"), ("events traced", f"{report.cost.events:,}")]
    return [*(traced if report.steps else ()), ("time", f"{report.cost.wall_s:.1f} s")]


def _faults(rule: RuleResult) -> Iterator[dict[str, Any]]:
    """The findings of a rule that failed, those of one kind together."""
    if rule.status != "fail":
        return
    kinds: dict[str, list[Finding]] = {}
    for finding in rule.findings[:MOST_FINDINGS]:
        kinds.setdefault(finding.kind, []).append(finding)
    for kind, findings in kinds.items() or (("", []),):
        yield {
            "rule": rule.rule,
            "kind": kind,
            "why": rule.why,
            "advice": advice(rule.rule, kind),
            "findings": [_finding(rule, finding) for finding in findings],
        }


def _finding(rule: RuleResult, finding: Finding) -> dict[str, Any]:
    return {
        "text": finding.text or rule.why,
        "place": place(finding.file, finding.line) if finding.file else "",
        "function": finding.function,
        "excerpt": dedented(excerpt(finding.file, finding.line)),
        "numbers": numbers(rule, finding),
        "native": finding.native,
        "stack": [(function, place(file, line)) for function, file, line in finding.stack],
    }


def _detail(report: Report) -> list[str]:
    if report.failure is None or not report.failure.detail.strip():
        return []
    return clean(report.failure.detail, lines=True).strip("\n").split("\n")[-MOST_DETAIL:]


def _flamegraph(report: Report) -> str:
    """The command that draws what is alive at the end; nothing where no command makes the run."""
    again = report.replay.startswith("steadyframe verify ")
    return f"{report.replay} --flamegraph flamegraph.html" if again else ""


def _environment(report: Report) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = []
    for key, value in report.environment.items():
        if isinstance(value, dict):
            facts += [(str(name), str(setting)) for name, setting in value.items()]
        else:
            facts.append((key, str(value)))
    return facts
