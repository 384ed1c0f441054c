"""What a backend says it must hold: read, and compared with what it holds."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.expectation import against, stated
from harness.owners import Site
from harness.plan import plan_steps
from harness.result import Arena, Region
from harness.timeline import END, PAGE, Span, Timeline
from harness.verify import verify
from harness.workload import Workload
from tests.harness.core.synthetic import intervals
from tests.harness.stated import backends

WORKLOAD = "64x64@25*4,128x96@25*2,64x64@25*4"


def said(answer: Callable[..., Any], **options: Any) -> tuple[int, ...] | None:
    """What comes of this answer, for a workload of two steps, the first of two frames."""
    workload = Workload.parse("8x4:gray8@50*2,6x4:gray8@25*1")
    steps = plan_steps(workload, warmup=0, default_format="rgb24")
    return stated(SimpleNamespace(expected_blocks=answer), options, workload, steps)  # type: ignore[arg-type]


def test_the_shapes_of_each_steps_frames_and_the_options_are_given_and_buffers_summed() -> None:
    given = []

    def answer(steps: Any, nireq: int) -> list[list[int]]:
        given.append((steps, nireq))
        return [[PAGE - 1], [PAGE, 2 * PAGE, 7]]

    assert said(answer, nireq=3) == (0, 3 * PAGE)
    assert given == [([[("gray8", 8, 4)] * 2, [("gray8", 6, 4)]], 3)]


def test_nothing_is_expected_where_nothing_is_said() -> None:
    assert said(lambda _: None) is None
    assert stated(lambda: None, {}, Workload.parse("8x8:gray8@25*1"), []) is None


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda _: [[PAGE]], "of 1 steps: give those of each of the 2 steps"),
        (lambda _: [[float(PAGE)]] * 2, "TypeError: 'float'.*whole bytes"),
        (lambda _: 1 // 0, "ZeroDivisionError"),
        (lambda: [[PAGE]] * 2, "TypeError"),
    ],
)
def test_nonsense_is_refused_in_words(answer: Callable[..., Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        said(answer)


def test_the_backends_buffers_count_from_birth_to_death_over_all_cycles() -> None:
    of = intervals(2, cycles=2)  # steps are intervals 1, 2 and 6, 7
    spans = [
        Span(Site(owner, "b.py", 1, "f", ()), size, born, died, count)
        for owner, size, born, died, count in (
            ("backend", PAGE, 0, 2, 1),
            ("backend", 2 * PAGE, 2, END, 2),
            ("backend", PAGE - 1, 0, END, 1),
            ("model", PAGE, 0, END, 1),
            ("backend", PAGE, -1, END, 1),
        )
    ]
    found = against(Timeline(of, [{} for _ in of], spans, 2), (5, 6))
    assert found.expected == (5, 6, 5, 6)
    assert found.measured == (PAGE, 4 * PAGE, 4 * PAGE, 4 * PAGE)


def test_a_backend_that_says_it_rightly_is_drawn_and_not_noted() -> None:
    report = verify(f"{backends.__file__}:Right", WORKLOAD, quick=True, cycles=2)
    assert report.notes == ()
    assert report.expectation is not None
    assert report.expectation.measured == report.expectation.expected
    assert report.expectation.expected == (*(4096,) * 4, *(12288,) * 6) * 2
    assert report.arena == Arena(128, 96, (Region("kept", 0, 12288, 0, 2, "buffer", 12288),))


def test_where_it_differs_first_and_by_how_much_is_a_note_and_no_fault() -> None:
    report = verify(f"{backends.__file__}:Wrong", WORKLOAD, quick=True, cycles=2)
    assert report.verdict == "pass"
    no_map, differs = report.notes
    assert differs == (
        "the backend's buffers are not what it says they must be: first at step 4 of cycle 1 "
        "(128x96) they hold 12,288 bytes, 8,192 more than expected; that is so at 12 of 20 steps, "
        "with 8,192 more at most"
    )
    assert "memory_map() of the backend gave no map: ValidationError" in no_map
    assert report.arena is None


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_the_reference_backend_holds_what_it_says_to_the_byte(mode: str) -> None:
    workload = "40x40:gray8@25*4,96x64:rgb24@100*12,64x64:grayf32@25*4"
    report = verify("identity", workload, quick=True, cycles=2, options={"mode": mode})
    assert report.notes == ()
    assert report.expectation is not None
    assert report.expectation.measured == report.expectation.expected
    assert len(set(report.expectation.expected)) > 1
