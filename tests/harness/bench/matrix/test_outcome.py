"""What counts as found: a tool that accuses the faulty backend, and the repaired one never."""

from __future__ import annotations

import pytest

from harness.bench.matrix.outcome import Judged, judge
from harness.bench.tools.tool import Said
from harness.selftest import Planted

FAULT = Planted("one", "about", dict, {}, rule="grow-only", kind="regrowth", file="f.py", line=7)
SILENT = Said()


@pytest.mark.parametrize(
    ("faulty", "repaired", "outcome"),
    [
        (Said(alarm="it leaks"), SILENT, "found"),
        (SILENT, SILENT, "missed"),
        (Said(alarm="it leaks"), Said(alarm="it leaks"), "cannot tell"),
        (SILENT, Said(alarm="it leaks"), "missed"),
        (Said(failed="hung"), SILENT, "no run"),
        (Said(alarm="invalid read", failed="crashed"), SILENT, "found"),
        (Said(alarm="it leaks"), Said(failed="hung"), "no run"),
    ],
)
def test_an_alarm_counts_if_the_repaired_one_has_none(
    faulty: Said, repaired: Said, outcome: str
) -> None:
    assert judge(FAULT, faulty, [repaired]).outcome == outcome


@pytest.mark.parametrize(
    ("faulty", "repaired", "outcome"),
    [
        (5, [5], "missed"),
        (4, [5], "missed"),
        (6, [5], "found"),
        (8, [5, 6], "found"),
        (7, [5, 6], "cannot tell"),
        (5, [5, 6], "missed"),
    ],
)
def test_a_total_counts_if_it_is_worse_by_more_than_the_repaired_ones_differ(
    faulty: int, repaired: list[int], outcome: str
) -> None:
    said = [Said(totals={"lost": total}) for total in repaired]
    assert judge(FAULT, Said(totals={"lost": faulty}), said).outcome == outcome


def test_words_say_what_is_worse_and_by_how_much() -> None:
    faulty, repaired = Said(totals={"lost": 1007, "calls": 9}), Said(totals={"lost": 5, "calls": 9})
    assert judge(FAULT, faulty, [repaired]) == Judged("found", words="lost +1,002")


@pytest.mark.parametrize(("bytes_there", "named"), [(100, True), (30, False)])
def test_a_line_is_named_if_more_is_said_of_it_than_of_any_in_the_repaired_one(
    bytes_there: int, named: bool
) -> None:
    faulty = Said(totals={"cycles": 100}, places={("f.py", 7): bytes_there, ("g.py", 1): 100})
    judged = judge(FAULT, faulty, [Said(totals={"cycles": 30})])
    assert (judged.outcome, judged.at_line) == ("found", named)
