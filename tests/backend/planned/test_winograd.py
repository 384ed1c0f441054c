"""The minimal filters are what they say: every output the sum of taps times inputs."""

from __future__ import annotations

import pytest
import torch

from backend.planned.ops.winograd import minimal_filter


@pytest.mark.parametrize(("outputs", "taps"), [(2, 3), (4, 3), (6, 3), (2, 5), (4, 5)])
def test_outputs_are_sums_of_taps_times_inputs(outputs, taps):
    found = minimal_filter(outputs, taps)
    assert found.points == outputs + taps - 1
    random = torch.Generator().manual_seed(0)
    inputs = torch.randn(found.points, 50, dtype=torch.float64, generator=random)
    kernel = torch.randn(taps, dtype=torch.float64, generator=random)
    direct = torch.stack(
        [sum(kernel[tap] * inputs[row + tap] for tap in range(taps)) for row in range(outputs)]
    )
    products = (found.kernel @ kernel)[:, None] * (found.forth.double() @ inputs)
    assert torch.allclose(found.back.double() @ products, direct, atol=1e-12)


def test_more_products_than_points_are_refused():
    with pytest.raises(AssertionError, match="more products than there are points"):
        minimal_filter(6, 5)
