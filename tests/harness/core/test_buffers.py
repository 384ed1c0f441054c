"""The size of each buffer over the steps, on timelines made by hand."""

from __future__ import annotations

from harness.buffers import MOST_LINES, MOST_OF_A_LINE, buffers
from harness.owners import Site
from harness.timeline import END, PAGE, Span, Timeline
from tests.harness.core.synthetic import intervals

# Open is interval 0; the steps are intervals 1 to 4.
INTERVALS = intervals(4)


def curves(
    *spans: tuple[int, int, int, int], owner: str = "backend"
) -> list[tuple[int, int, list]]:
    """(line, number, sizes) for blocks of (line, bytes, born, died)."""
    made = [
        Span(Site(owner, "b.py", line, "f", ()), size, born, died, 1)
        for line, size, born, died in spans
    ]
    timeline = Timeline(INTERVALS, [{} for _ in INTERVALS], made, 1)
    return [(curve.line, curve.number, list(curve.sizes)) for curve in buffers(timeline)]


def test_buffer_that_grows_is_one_curve() -> None:
    assert curves((3, PAGE, 0, 2), (3, 2 * PAGE, 2, 5)) == [(3, 1, [(0, PAGE), (1, 2 * PAGE)])]


def test_buffers_of_a_line_are_numbered_by_size_and_gone_ones_are_0() -> None:
    assert curves((3, PAGE, 1, 4), (3, 9 * PAGE, 1, 3)) == [
        (3, 1, [(0, 9 * PAGE), (2, PAGE), (3, 0)]),
        (3, 2, [(0, PAGE), (2, 0)]),
    ]


def test_what_dies_in_its_step_is_small_or_anothers_is_no_buffer() -> None:
    assert curves((3, PAGE - 1, 0, END)) == []
    assert curves((3, PAGE, 0, END), owner="model") == []
    assert curves() == []


def test_lines_and_buffers_are_few_however_much_is_leaked() -> None:
    leaked = [(line, line * PAGE, 1, END) for line in range(1, 20) for _ in range(30)]
    found = curves(*leaked)
    assert len(found) == MOST_LINES * MOST_OF_A_LINE
    assert [line for line, number, _ in found if number == 1] == [19, 18, 17, 16, 15, 14]
