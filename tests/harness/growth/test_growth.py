"""Growth over changes of resolution: a cache with a bound, one without, and a leak, told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.contract import Contract
from harness.result import Finding, Report
from harness.rules import steady_growth
from harness.timeline import END
from harness.verify import verify
from tests.harness.core.synthetic import Made

PLANTED = Path(__file__).parent / "planted_growth.py"
MANY = "256x256@25*2," + ",".join(f"{8 + n}x{200 - n % 37}@25*2" for n in range(200))
BACK_AND_FORTH = ",".join(["128x128@25*3,64x64@25*3"] * 8)


def run(name: str, workload: str) -> Report:
    return verify(f"{PLANTED}:{name}", workload, level="zero-growth", quick=True)


def growth(report: Report) -> tuple[Finding, ...]:
    return next(rule for rule in report.rules if rule.rule == "steady-growth").findings


def fault(text: str) -> int:
    lines = PLANTED.read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# fault: {text}"))


def test_a_cache_of_every_shape_is_one_without_bound() -> None:
    (finding,) = growth(run("EveryShape", MANY))
    assert (finding.kind, finding.line) == ("unbounded-cache", fault("every shape"))
    assert finding.count >= 200


def test_a_cache_of_the_last_shapes_passes() -> None:
    assert run("LastShapes", MANY).verdict == "pass"


def test_what_is_kept_at_every_change_is_a_leak_also_where_shapes_come_back() -> None:
    (finding,) = growth(run("EveryChange", BACK_AND_FORTH))
    assert (finding.kind, finding.line) == ("leak-per-resolution-change", fault("every change"))


def test_a_ring_that_is_full_passes_though_its_deque_needs_another_block_later() -> None:
    for workload in ("64x48@25*40", "32x24@100*40", "concat-jump"):
        assert run("Ring", workload).verdict == "pass"


@pytest.mark.parametrize(
    ("name", "workload", "text"),
    [
        ("EveryTwelfth", "64x48@25*44", "every twelfth"),
        ("EveryTwelfth", "64x48@25*50", "every twelfth"),
        ("Doubling", "64x48@25*80", "doubling"),
    ],
)
def test_what_rises_rarely_but_evenly_or_far_is_growth(name: str, workload: str, text: str) -> None:
    (finding,) = growth(run(name, workload))
    assert (finding.kind, finding.line) == ("leak-per-frame", fault(text))


def test_changes_that_cannot_be_judged_are_told_with_a_workload_that_can() -> None:
    (few,) = (
        r.why for r in run("View", "8x8@25*20,16x16@25*20,8x8@25*20").rules if "growth" in r.rule
    )
    assert few.endswith("(such as --workload oscillation)")


@pytest.mark.parametrize(
    ("blocks", "size", "listed", "status"),
    [
        (7, 48, True, "pass"),
        (8, 48, True, "fail"),
        (7, 48, False, "fail"),
        (7, 1023, True, "pass"),
        (7, 1024, True, "fail"),
    ],
)
def test_as_many_blocks_as_a_list_of_numpys_has_room_for_may_lie_in_it(
    blocks: int, size: int, listed: bool, status: str
) -> None:
    made = Made(24)
    for number in range(1, blocks + 1):
        made.block(3 * number, made.number("close"), size, listed=listed)
    assert steady_growth.check(made.timeline(), Contract("zero-growth")).status == status


def test_lines_whose_blocks_passed_on_to_the_array_that_is_kept_are_not_blamed() -> None:
    made = Made(24)
    for number in range(1, 25):
        made.block(number, END, 3000, line=8, listed=True)
        made.block(number, END, 48, line=8, listed=True)
        made.block(number, END, 48, line=9, listed=True)
    result = steady_growth.check(made.timeline(), Contract("zero-growth"))
    assert {finding.line for finding in result.findings} == {8}


def test_views_that_are_kept_show_when_they_are_more_than_a_list_of_numpys_holds() -> None:
    (finding,) = growth(run("View", BACK_AND_FORTH))
    assert (finding.kind, finding.line) == ("leak-per-resolution-change", fault("view"))
    assert finding.native == ("PyArray_NewFromDescr_int < get_view_from_index < array_subscript",)


@pytest.mark.parametrize("name", ["EveryShape", "LastShapes"])
def test_shapes_that_come_back_add_nothing_to_a_cache(name: str) -> None:
    assert run(name, BACK_AND_FORTH).verdict == "pass"


def test_the_primitives_that_onednn_keeps_are_told_in_a_note_and_pass() -> None:
    report = run("Convolution", MANY)
    assert report.verdict == "pass"
    (note,) = report.notes
    assert note.startswith("model: ")
    assert "a cache of the process, bounded for this workload" in note


def test_views_that_change_with_the_format_are_no_growth_over_changes_of_resolution() -> None:
    # A frame of three channels takes more views than one of luma, and each of four requests changes
    # over when its turn comes.
    workload = (
        "634x1:gray8@60000/1001*9,16x2:rgb24@12.5*15,634x1:gray8@12.5*3,16x2:rgb24@24*9,"
        "634x1:rgb24@30*18,16x2:rgb24@29.97*2"
    )
    options = {"mode": "async", "nireq": 4}
    report = verify("identity", workload, cycles=2, options=options, quick=True)
    assert report.verdict == "pass"


def test_changes_of_resolution_are_judged_in_one_format_only() -> None:
    def judged(workload: str) -> bool:
        report = run("EveryChange", workload)
        (rule,) = [rule for rule in report.rules if rule.rule == "steady-growth"]
        return "over changes of resolution" in rule.why

    assert judged(BACK_AND_FORTH)
    assert not judged(BACK_AND_FORTH.replace("64x64@", "64x64:gray8@"))
