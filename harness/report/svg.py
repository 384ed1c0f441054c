"""Small drawings that a page needs no script for."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

_POINTS = 120
_WIDTH, _HEIGHT = 120, 28
_EDGE = 2
"""room for the line's own width"""


def sparkline(values: Sequence[int], label: str) -> Markup:
    """The values as a line, from 0 or their least up to their most; nothing if there are none.

    Of values too many to be told apart the largest of each group is drawn: a spike must be seen.
    """
    if not values:
        return Markup()
    stride = -(-len(values) // _POINTS)
    tops = [max(values[at : at + stride]) for at in range(0, len(values), stride)]
    least, most = min(0, *tops), max(tops)
    span = (most - least) or 1
    across, up = (_WIDTH - 2 * _EDGE) / max(len(tops) - 1, 1), _HEIGHT - 2 * _EDGE
    points = " ".join(
        f"{_EDGE + n * across:.1f},{_HEIGHT - _EDGE - (top - least) / span * up:.1f}"
        for n, top in enumerate(tops)
    )
    return Markup(
        '<svg class="sparkline" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        '<polyline points="{}"/></svg>'
    ).format(_WIDTH, _HEIGHT, label, points)
