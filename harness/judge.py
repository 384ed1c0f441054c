"""From what was measured to a verdict: all rules, and what screening adds to them."""

from __future__ import annotations

import msgspec

from harness import early_close
from harness.beside import Beside
from harness.contract import Contract
from harness.naming import Namer, merged
from harness.owners import MODEL, OWN
from harness.result import Report
from harness.rules import RULES, steady_growth
from harness.rules.teardown_release import first_use
from harness.screening import Growth, Pattern, find
from harness.timeline import Timeline

_SCREENED: dict[str, tuple[Pattern, ...]] = {
    "steady-growth": ("frame", "change"),
    "teardown-release": ("cycle",),
}
"""patterns of growth that a rule judges besides what it sees in the trace"""


_OBJECTS = frozenset({"python_blocks"})
_PAGES = frozenset({"virtual_pages"})
"""of which the trace has most"""


def may_be_held(timeline: Timeline, contract: Contract) -> bool:
    """Whether anything on a steady step, or any rule, speaks against a backend."""
    shown = {
        site.owner
        for number in timeline.steps
        if timeline.intervals[number].is_steady
        for site in timeline.births[number]
    }
    if shown - OWN - {MODEL}:
        return True
    if steady_growth.notes(timeline):
        return True
    return any(rule(timeline, contract).status == "fail" for rule in RULES.values())


def judge(
    report: Report, contract: Contract, timeline: Timeline, shown: Beside, namer: Namer
) -> None:
    """Hold a complete run to its contract, and fill in the verdict, the rules and their notes."""
    if shown.failure is not None:
        text = f"traced it came to its end, but at native speed {shown.failure.text}"
        report.failure = msgspec.structs.replace(shown.failure, text=text)
        return
    timeline.outputs = shown.outputs
    timeline.errors = shown.errors
    timeline.burst = shown.burst
    timeline.inputs_alive = shown.inputs_alive
    results = {name: rule(timeline, contract) for name, rule in RULES.items()}
    for name in early_close.JUDGED:
        results[name] = early_close.added(results[name], shown.early, contract)
    report.notes += steady_growth.notes(timeline)
    growths = _grown(report, shown)
    for name, patterns in _SCREENED.items():
        mine = [growth for growth in growths if growth.pattern in patterns]
        if results[name].status == "fail":
            # The same cause, most likely; and to follow a million objects takes minutes.
            report.notes += tuple(_not_followed(name, g) for g in mine if g.field in _OBJECTS)
            mine = [growth for growth in mine if growth.field not in _OBJECTS | _PAGES]
        named = [namer.name(growth, timeline) for growth in mine]
        report.notes += tuple(note for one in named for note in (one.failure, one.doubt) if note)
        results[name] = merged(results[name], named, patterns)
    report.teardown = msgspec.structs.replace(
        report.teardown,
        first_use_survivors=first_use(timeline),
        native=shown.screening.extents() if shown.screening else {},
    )
    report.rules = tuple(results.values())
    report.verdict = "fail" if any(rule.status == "fail" for rule in report.rules) else "pass"


def _not_followed(rule: str, growth: Growth) -> str:
    return (
        f"{growth.amount:,} small Python objects more are kept as well; "
        f"their lines are looked for once {rule} finds nothing else"
    )


def _grown(report: Report, shown: Beside) -> list[Growth]:
    """What screening saw grow; nothing of the heap where its numbers are not those of malloc."""
    if shown.screening is None:
        return []
    foreign = "allocator" in report.environment and report.environment["allocator"] != "glibc"
    return [
        growth for growth in find(shown.screening) if not (foreign and growth.field == "heap_bytes")
    ]
