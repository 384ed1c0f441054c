"""Winograd's minimal filters along one axis (Winograd 1980), for any number of taps.

F(m, r) makes m outputs of r taps from n = m + r - 1 inputs with n products instead of m * r. Used
down the columns of a frame only, the transforms act on whole rows, which are contiguous: each is
one small matrix product with a very long row of columns, and costs little. The products are
those of a convolution with one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import torch

_POINTS = (0, 1, -1, Fraction(1, 2), -2, 2, Fraction(-1, 2))
"""Where the polynomials are evaluated, beside infinity: small and mutually inverse numbers lose
the least precision (F(4, 3): 5e-7 of the largest output, where direct summation has 2e-7)."""


@dataclass(frozen=True)
class Filter:
    """The three matrices: outputs = back @ ((kernel @ taps) * (forth @ inputs))."""

    outputs: int
    taps: int
    forth: torch.Tensor
    """[n, n] float32"""
    kernel: torch.Tensor
    """[n, taps] float64"""
    back: torch.Tensor
    """[outputs, n] float32"""

    @property
    def points(self) -> int:
        """How many products."""
        return self.outputs + self.taps - 1


def minimal_filter(outputs: int, taps: int) -> Filter:
    """F(outputs, taps), by the transposed Toom-Cook construction in exact arithmetic."""
    count = outputs + taps - 1
    points = [Fraction(point) for point in _POINTS[: count - 1]]
    assert len(points) == count - 1, "more products than there are points"
    forth, kernel = [], []
    for point in points:
        others = [other for other in points if other != point]
        scale = Fraction(1)
        for other in others:
            scale *= point - other
        kernel.append([point**power / scale for power in range(taps)])
        forth.append([*_product_of_roots(others), Fraction(0)])
    kernel.append([Fraction(int(power == taps - 1)) for power in range(taps)])
    forth.append(_product_of_roots(points))
    back = [
        [*(point**row for point in points), Fraction(int(row == outputs - 1))]
        for row in range(outputs)
    ]
    return Filter(
        outputs,
        taps,
        _tensor(forth).float(),
        _tensor(kernel),
        _tensor(back).float(),
    )


def _product_of_roots(roots: list[Fraction]) -> list[Fraction]:
    """Coefficients of the polynomial with these roots, lowest power first."""
    product = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *product]
        product = [
            high - root * low for high, low in zip(shifted, [*product, Fraction(0)], strict=True)
        ]
    return product


def _tensor(rows: list[list[Fraction]]) -> torch.Tensor:
    return torch.tensor([[float(value) for value in row] for row in rows], dtype=torch.float64)
