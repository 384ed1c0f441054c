"""Which blocks took the place of one that a library's free list held when the run began.

A free list that has nothing left has its user take a new block. When both are given back, it keeps
the one that came first and frees the other, which may be its own: then the new block lives on in
the list, though its owner has no more than before. How often that happens is up to the scheduler.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.timeline import Span


def pairs(held: Iterable[Span], others: Iterable[Span]) -> Iterator[Span]:
    """The blocks, of all `others`, that a list holds instead of those of `held` that it freed.

    Each is a span from the moment of the exchange to its own death. Of several that were alive at
    that moment, the one born last is the likeliest.
    """
    alike: dict[int, list[Span]] = defaultdict(list)
    for span in sorted(others, key=lambda span: -span.born):
        alike[span.size].append(span)
    left = {id(span): span.count for spans in alike.values() for span in spans}
    for freed in sorted(held, key=lambda span: span.died):
        wanted = freed.count
        for span in alike[freed.size]:
            if wanted and span.born <= freed.died < span.died:
                count = min(wanted, left[id(span)])
                left[id(span)] -= count
                wanted -= count
                yield replace(span, born=freed.died, count=count)
