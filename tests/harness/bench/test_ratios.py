"""Ratios are of the same turn, and the exponent of a power law is found."""

from __future__ import annotations

import pytest

from harness.bench.ratios import exponent, in_turn, least_of, ratio


def test_contestants_take_turns_and_none_is_always_first() -> None:
    called: list[str] = []

    def call(name: str) -> int:
        called.append(name)
        return len(called)

    found = in_turn({"a": lambda: call("a"), "b": lambda: call("b")}, 3)
    assert called == ["a", "b", "b", "a", "a", "b"]
    assert found == {"a": [1, 4, 5], "b": [2, 3, 6]}


def test_a_ratio_is_the_median_of_those_of_each_turn() -> None:
    # The second turn met a busy machine: both took ten times as long.
    assert ratio([2, 30, 2], [1, 10, 1]) == 2


def test_the_least_is_taken_turn_by_turn() -> None:
    assert least_of([[1, 5], [2, 3]]) == [1, 3]


@pytest.mark.parametrize("power", [0, 0.5, 1, 2])
def test_the_exponent_of_a_power_law_is_found(power: float) -> None:
    assert exponent((x, 3 * x**power) for x in (1, 2, 8, 50)) == pytest.approx(power)
