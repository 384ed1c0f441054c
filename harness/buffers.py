"""How large each buffer of the backend's is over the steps: the capacity of every request.

A buffer is a block of a page or more. Which of several that one line makes is which request's, no
trace says; so they are numbered by size, the largest first. Grow-only buffers never come down.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from harness.owners import BACKEND
from harness.result import BufferCurve
from harness.timeline import PAGE, Timeline

MOST_OF_A_LINE = 8
"""A line whose buffers are leaked has thousands."""
MOST_LINES = 6

_Line = tuple[str, int, str]


def buffers(timeline: Timeline) -> tuple[BufferCurve, ...]:
    """The curves of the lines that hold most at any time, MOST_OF_A_LINE each at the most."""
    changes: dict[int, list[tuple[_Line, int, int]]] = defaultdict(list)
    for span in timeline.spans:
        site = span.site
        if site.owner == BACKEND and span.size >= PAGE:
            line = (site.file, site.line, site.function)
            changes[max(span.born, 0)].append((line, span.size, span.count))
            changes[span.died].append((line, span.size, -span.count))
    held: dict[_Line, Counter[int]] = defaultdict(Counter)
    curves: dict[tuple[_Line, int], list[tuple[int, int]]] = defaultdict(list)
    position = {number: at for at, number in enumerate(timeline.steps)}
    touched: set[_Line] = set()
    for number in range(len(timeline.intervals)):
        for line, size, count in changes.get(number, ()):
            held[line][size] += count
            touched.add(line)
        if number in position:
            for line in touched:
                _note(curves, line, held[line], position[number])
            touched.clear()
    return _largest(curves)


def _note(
    curves: dict[tuple[_Line, int], list[tuple[int, int]]],
    line: _Line,
    held: Counter[int],
    at: int,
) -> None:
    """Add what is held now to the curves of a line, where it is another size than before."""
    sizes = [size for size in sorted(held, reverse=True) for _ in range(held[size])]
    for rank in range(MOST_OF_A_LINE):
        size = sizes[rank] if rank < len(sizes) else 0
        curve = curves.get((line, rank))
        if size and curve is None:
            curves[line, rank] = [(at, size)]
        elif curve is not None and curve[-1][1] != size:
            curve.append((at, size))


def _largest(
    curves: dict[tuple[_Line, int], list[tuple[int, int]]],
) -> tuple[BufferCurve, ...]:
    most: Counter[_Line] = Counter()
    for (line, _), curve in curves.items():
        most[line] += max(size for _, size in curve)
    shown = [line for line, _ in most.most_common(MOST_LINES)]
    return tuple(
        BufferCurve(*line, rank + 1, tuple(curves[line, rank]))
        for line in shown
        for rank in range(MOST_OF_A_LINE)
        if (line, rank) in curves
    )
