"""numpy's free lists: what they hold, and which allocations are made for want of a block in them.

numpy keeps freed blocks for its next array, of array dimensions and of data below a kibibyte
(numpy/_core/src/multiarray/alloc.c).
"""

from __future__ import annotations

from collections.abc import Iterable

HELD = 7
"""blocks that each list holds at most: NCACHE"""
LARGEST = 1023
"""bytes of the largest blocks that have a list: NBUCKETS less one"""
_FOR_DATA = frozenset({"PyDataMem_UserNEW", "PyDataMem_UserNEW_ZEROED"})
_SYMBOLS = _FOR_DATA | {
    "PyArray_NewFromDescr_int",
    "PyArray_IntpConverter",  # of a shape that is asked for, which comes from the same list
}
_WITHIN = 3
"""native frames, innermost first, among which one of these is: others are of malloc itself"""


def is_listed(symbols: Iterable[str]) -> bool:
    """Whether an allocation with this native stack was made by numpy for an array."""
    return not _SYMBOLS.isdisjoint(list(symbols)[:_WITHIN])


def is_for_dimensions(symbols: Iterable[str]) -> bool:
    """Whether it was made for the dimensions of an array, not for its data."""
    innermost = list(symbols)[:_WITHIN]
    return is_listed(innermost) and _FOR_DATA.isdisjoint(innermost)
