"""Blocks and numpy's free lists: what arrays leave there is no leak, and what they keep is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from harness import block
from tests.harness.block.helpers import findings, line_of

kept: list[Any] = []


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    kept.clear()


def passes_many(kept_of_them: int) -> None:
    around = [np.zeros(60) for _ in range(5)]
    with block.released():
        rows = [np.zeros(60) for _ in range(9)]
        kept.append(rows[:kept_of_them])
        del rows
    del around


def test_inner_block_may_leave_in_numpys_lists_what_arrays_around_it_took_from_there() -> None:
    with block.released():
        passes_many(0)
    with pytest.raises(block.ContractError) as caught, block.released():
        passes_many(9)
    inner, outer = (report.rules[0] for report in caught.value.reports)
    for rule in (inner, outer):
        for found in rule.findings:
            assert found.line == line_of(passes_many, "range(9)")
    assert inner.status == outer.status == "fail"


def passes_views() -> None:
    around = [np.zeros(2000, np.uint8) for _ in range(6)]
    with block.released():
        view, fresh = around[0][1:], np.zeros(2000, np.uint8)
        shaped = around[0].reshape(20, 100)
        del view, fresh, shaped
    del around


def test_shape_that_is_asked_for_comes_from_numpys_lists_as_well() -> None:
    with block.released():
        passes_views()


def keeps_one_of_nine() -> None:
    with block.released():
        rows = [np.zeros(60) for _ in range(9)]
        kept.append(rows[0])
        del rows


def test_no_more_blocks_are_told_than_there_are_more_of() -> None:
    with pytest.raises(block.ContractError) as caught:
        keeps_one_of_nine()
    (left,) = findings(caught)
    assert (left.count, left.bytes) == (2, 480 + 16), "its data and its dimensions"
