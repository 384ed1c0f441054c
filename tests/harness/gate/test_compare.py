"""What is worse, what is better, and what can't be told here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from harness.gate.case import Case
from harness.gate.compare import compare
from harness.gate.counts import Amount, Counts, counts
from harness.gate.fingerprint import fingerprint
from harness.gate.results import CaseResult
from harness.result import Report, RuleResult
from tests.harness.gate.helpers import ENVIRONMENT, finding, report

ROOT = Path("/project")
HERE = fingerprint(ENVIRONMENT)


def held(now: Report, *recorded: Any) -> CaseResult:
    """What is said of a report against (report or counts, environment changes) recorded before."""
    records = [
        (
            fingerprint(ENVIRONMENT | changes),
            old if isinstance(old, Counts) else counts(old, ROOT),
        )
        for old, changes in recorded
    ]
    result, _ = compare(Case("a", "mine.py:Backend"), now, counts(now, ROOT), HERE, records, ROOT)
    return result


def test_equal_counts_are_the_same() -> None:
    assert held(report(), (report(), {})) == CaseResult("a", "same", holds="zero-owned")


def test_one_allocation_is_worse_and_names_its_line_and_frames() -> None:
    result = held(report(backend=(1, 64)), (report(), {}))
    assert result.status == "worse"
    said = {(d.rule, d.owner, d.what, d.before, d.after) for d in result.differences}
    assert (
        "steady-allocations",
        "backend",
        "allocations per steady step of 64x64 x1",
        0,
        1,
    ) in said
    assert ("level", "anyone", "levels that do not hold", 1, 2) in said
    (site,) = result.sites
    assert (site.place, site.frames, site.before, site.after) == (
        "mine.py:7 in run",
        "8-9",
        (0, 0),
        (2, 128),
    )
    assert "--level zero-owned" in result.command


def test_a_models_rise_is_shown_by_a_command_that_shows_it() -> None:
    result = held(report(model=(601, 9000)), (report(), {}))
    assert result.status == "worse"
    assert "--level zero-malloc" in result.command


def test_a_rise_that_the_level_allows_is_shown_by_a_command_that_does_not() -> None:
    worse, old = report(backend=(1, 64)), report()
    for one in (worse, old):
        one.level, one.replay = "zero-growth", "steadyframe verify a --level zero-growth"
    result = held(worse, (old, {}))
    assert result.status == "worse"
    assert result.command == "steadyframe verify a --level zero-owned"


def test_fewer_are_better_and_more_bytes_with_fewer_blocks_are_worse() -> None:
    assert held(report(model=(599, 9000)), (report(), {})).status == "better"
    assert held(report(model=(599, 9001)), (report(), {})).status == "worse"


@pytest.mark.parametrize(
    "changes",
    [{"torch": "2.14.0"}, {"python": "3.12.1"}, {"libc": "glibc 2.39"}, {"cpu_capability": "AVX2"},
     {"torch_threads": 2}, {"variables": {"OMP_NUM_THREADS": "2"}}],
)  # fmt: skip
def test_an_environment_that_is_not_recorded_is_never_a_pass(changes: dict[str, Any]) -> None:
    result = held(report(), (report(), changes))
    assert result.status == "unknown"
    assert next(iter(changes)) in result.why[0]
    assert result.command == "steadyframe gate --update --only a"


@pytest.mark.parametrize(
    "changes",
    [
        {"python": "3.11.99"},
        {
            "variables": ENVIRONMENT["variables"]
            | {"LD_LIBRARY_PATH": "/", "OMP_WAIT_POLICY": "active"}
        },
    ],
)
def test_what_no_count_depends_on_is_not_asked(changes: dict[str, Any]) -> None:
    assert held(report(), (report(), changes)).status == "same"


def test_zero_is_zero_everywhere() -> None:
    result = held(report(backend=(1, 64)), (report(), {"torch": "1.0", "cpu_capability": "none"}))
    assert result.status == "worse"


def test_kernels_do_not_matter_where_none_allocates() -> None:
    still = report(model=(0, 0))
    assert held(still, (still, {"cpu_capability": "AVX2"})).status == "same"
    assert held(still, (still, {"torch": "1.0"})).status == "unknown"


def test_the_record_of_this_environment_is_the_one_that_counts() -> None:
    other = (report(model=(1, 1)), {"cpu_capability": "AVX2"})
    assert held(report(), other, (report(), {}), other).status == "same"


def test_another_processor_with_the_same_instructions_may_count_otherwise() -> None:
    more = report(model=(601, 9000))
    assert held(more, (report(), {"processor": "another"})).status == "unknown"
    assert held(report(), (report(), {"processor": "another"})).status == "same"


def test_another_workload_or_other_steps_can_not_be_compared() -> None:
    assert held(report(), (report(workload="8x8@25*4"), {})).status == "changed"
    fewer = report()
    fewer.steps = fewer.steps[:1]
    assert held(fewer, (report(), {})).status == "changed"


def test_a_violation_that_is_recorded_is_told_and_may_not_grow() -> None:
    result = held(report(backend=(3, 64)), (report(backend=(3, 64)), {}))
    assert result.status == "same"
    assert result.why == ("it violates zero-owned, as recorded: steady-allocations",)
    assert held(report(backend=(4, 64)), (report(backend=(3, 64)), {})).status == "worse"


def test_another_rule_that_fails_tells_what_it_found() -> None:
    wrong = RuleResult("output", "fail", 3, 0, "", (finding(text="3 results are wrong at x.py:4"),))
    now = report(verdict="fail", rules=(*report().rules, wrong))
    result = held(now, (report(), {}))
    assert result.status == "worse"
    assert "output: 3 results are wrong at x.py:4" in result.why


@pytest.mark.parametrize(
    "changes",
    [
        {"growth_events": 1},
        {"growth": Amount(2, 8192)},
        {"growth": Amount(1, 8193)},
        {"held": {"backend": Amount(1, 8192), "model": Amount(1, 5000)}},
        {"first_use": {"model": Amount(1, 5000)}},
        {"leaked": Amount(1, 16)},
        {"resources": {"threads": 1}},
        {"holds": "zero-growth"},
        {"rules": {"error-path": 2}},
    ],
)
def test_every_other_count_is_exact_too(changes: dict[str, Any]) -> None:
    base = counts(report(), ROOT)
    more = msgspec.structs.replace(base, **changes)
    case, now = Case("a", "mine.py:Backend"), report()
    assert compare(case, now, more, HERE, [(HERE, base)], ROOT)[0].status == "worse"
    assert compare(case, now, base, HERE, [(HERE, more)], ROOT)[0].status == "better"
