"""Every supported layer, alone or in its usual company: right, without malloc, in little memory."""

from __future__ import annotations

import pytest


def conv(outputs, kernel, stride=1, dilation=1, groups=1, padding=0, bias=1):
    return ["conv", outputs, list(kernel), stride, dilation, groups, padding, bias]


def transposed(outputs, kernel, stride=1, dilation=1, groups=1, padding=0, bias=1):
    return ["transposed", outputs, list(kernel), stride, dilation, groups, padding, bias]


LAYERS = {
    "conv-1x1": [conv(5, (1, 1))],
    "conv-1x1-padded": [conv(5, (1, 1), padding=2)],
    "conv-3x3": [conv(9, (3, 3), padding=1)],
    "conv-3x3-few-outputs": [conv(3, (3, 3), padding=1, bias=0)],
    "conv-3x3-many-outputs": [conv(40, (3, 3), padding=1)],
    "conv-5x5": [conv(12, (5, 5), padding=2, bias=0)],
    "conv-5x5-few-outputs": [conv(2, (5, 5), padding=2)],
    "conv-7x7": [conv(4, (7, 7), padding=3)],
    "conv-unpadded": [conv(6, (3, 5))],
    "conv-widening": [conv(4, (3, 3), padding=4)],
    "conv-strided": [conv(5, (3, 3), stride=2, padding=1)],
    "conv-dilated": [conv(5, (3, 3), dilation=2, padding=2)],
    "conv-groups": [conv(6, (3, 3), groups=2, padding=1)],
    "conv-groups-strided": [conv(6, (3, 3), groups=2, stride=2, padding=1)],
    "depthwise": [conv(8, (3, 3), groups="all", padding=1)],
    "depthwise-multiplied": [conv(16, (5, 5), groups="all", stride=2, padding=2, bias=0)],
    "thin": [conv(1, (1, 1)), conv(8, (9, 9), padding=4), ["relu"], conv(1, (5, 5), padding=2)],
    "transposed-4-2": [transposed(4, (4, 4), stride=2, padding=1)],
    "transposed-3-2": [transposed(4, (3, 3), stride=2, padding=1, bias=0)],
    "transposed-3-1": [transposed(4, (3, 3))],
    "transposed-5-3-groups": [transposed(4, (5, 5), stride=3, groups=2, padding=2)],
    "transposed-dilated": [transposed(4, (3, 3), stride=2, dilation=2, padding=1)],
    "transposed-2-3": [transposed(3, (2, 2), stride=3)],
    "norm-folded": [conv(8, (3, 3), padding=1), ["norm"], ["leaky", 0.1]],
    "norm-alone": [["norm"], ["relu"], ["norm"]],
    "prelu": [conv(8, (3, 3), padding=1), ["prelu"], ["tanh"]],
    "activations": [["sigmoid"], ["tanh"], ["clamp", -0.3, 0.2], ["leaky", 0.2]],
    "shuffle": [["shuffle", 3]],
    "max": [["max", 2]],
    "max-overlapping": [["max", 3, 2, 1]],
    "max-dilated": [["max", 3, 1, 0, 2]],
    "max-round-up": [["max", 3, 2, 1, 1, False, True]],
    "average": [["average", 2]],
    "average-overlapping": [["average", 3, 2, 1]],
    "zeros": [["zeros", [1, 2, 3, 0]]],
    "mirror": [["mirror", [2, 1, 3, 2]], conv(4, (3, 3))],
    "mirror-behind-conv": [conv(8, (3, 3), padding=1), ["mirror", 3], conv(4, (5, 5))],
    "residual": [["beside", "add", [conv(8, (3, 3), padding=1)]], ["relu"]],
    "residual-sub": [["beside", "sub", [conv(8, (3, 3), padding=1), ["relu"]]]],
    "residual-mul": [["beside", "mul", [["sigmoid"]]]],
    "dense": [["beside", "cat", [conv(5, (3, 3), padding=1)]], conv(4, (1, 1))],
    "u-nearest": [["halved", "nearest", [conv(9, (3, 3), padding=1)]], conv(8, (3, 3), padding=1)],
    "u-bilinear": [["halved", "bilinear", [["halved", "nearest", [["tanh"]]]]]],
    "gate": [conv(8, (3, 3), padding=1), ["gate"], conv(3, (3, 3), padding=1)],
}
CASES = [((36, 24), 1), ((20, 16), 2), ((1300, 28), 2)]


@pytest.mark.parametrize(("size", "lanes"), CASES, ids=str)
@pytest.mark.parametrize("name", LAYERS)
def test_a_planned_layer_is_right_and_allocates_nothing(server, name, size, lanes):
    found = server.measure(LAYERS[name], 8, size, lanes)
    assert found["shape"], found
    assert found["error"] < 1e-5
    assert found["same"], "a second run of the same plan gives something else"
    assert found["allocations"] == []
    assert found["arena"] <= 1.05


@pytest.mark.parametrize("size", [(7, 5), (13, 1), (1, 13), (3, 31)], ids=str)
def test_frames_smaller_than_a_band(server, size):
    parts = [conv(9, (3, 3), padding=1), ["relu"], conv(12, (5, 5), padding=2), ["shuffle", 2]]
    found = server.measure(parts, 3, size, 2)
    assert found["error"] < 1e-5
    assert found["allocations"] == []


def test_a_frame_too_small_for_a_layer_is_told_by_name(server):
    found = server.measure([conv(4, (7, 7))], 3, (6, 20), 1)
    assert found == {"unusable": "layer '0' (Unroll) makes nothing of 6x20 samples"}


def test_the_measurement_sees_allocations(server):
    """Else the zeros above would prove nothing."""
    assert server.measure(None, 0, (0, 0), 1) == {"allocations": 1}
