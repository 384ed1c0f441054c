"""What a module becomes, what is refused by name, and in what state it is given back."""

from __future__ import annotations

import gc
import warnings
import weakref

import pytest
import torch
from torch import nn

from backend.models import SHIPPED_MODELS
from backend.planned.layers import UnsupportedLayerError
from backend.planned.trace import trace


class Forward(nn.Module):
    def __init__(self, forward):
        super().__init__()
        self.act = forward
        self.conv = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x):
        return self.act(self, x)


def kinds(module):
    return [node.operator.kind for node in trace(module.eval()).nodes]


def test_activations_become_part_of_what_makes_their_input():
    graph = trace(SHIPPED_MODELS["espcn"]().eval())
    assert [node.operator.name for node in graph.nodes] == ["0", "0", "2", "4", "5"]
    assert [len(node.operator.epilogue) for node in graph.nodes] == [0, 1, 1, 0, 0]


def test_a_value_that_others_need_too_is_not_changed_in_place():
    module = Forward(lambda self, x: (y := self.conv(x)) + torch.relu(y))
    assert kinds(module) == ["Unroll", "Conv2d", "ReLU", "add"]


def test_a_normalisation_is_folded_into_a_convolution_of_its_own_alone():
    conv, norm = nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8)
    assert kinds(nn.Sequential(conv, norm)) == ["Conv2d"]
    assert kinds(nn.Sequential(conv, nn.ReLU(), norm)) == ["Conv2d", "BatchNorm2d"]
    both = Forward(lambda self, x: (y := self.conv(x)) + self.norm(y))
    both.norm = nn.BatchNorm2d(3)
    assert kinds(both) == ["Unroll", "Conv2d", "BatchNorm2d", "add"]


def test_what_nobody_takes_is_dropped():
    assert kinds(Forward(lambda self, x: (self.conv(x), x.relu())[1])) == ["ReLU"]


def test_a_single_layer_is_a_model():
    assert kinds(nn.ReLU()) == ["ReLU"]
    assert kinds(nn.Identity()) == []


@pytest.mark.parametrize(
    ("module", "name", "kind"),
    [
        (nn.Sequential(nn.ReLU(), nn.GELU()), "1", "GELU"),
        (nn.Sequential(nn.Sequential(nn.Conv3d(1, 1, 1))), "0.0", "Conv3d"),
        (nn.Sequential(nn.Upsample(scale_factor=1.5)), "0", "Upsample"),
        (nn.Sequential(nn.AdaptiveAvgPool2d(2)), "0", "AdaptiveAvgPool2d"),
        (nn.Sequential(nn.AvgPool2d(3, 2, 1, count_include_pad=False)), "0", "AvgPool2d"),
        (nn.Sequential(nn.Linear(3, 4)), "0", "Linear"),
        (nn.Sequential(nn.Conv2d(1, 1, 3, padding_mode="circular")), "0", "Conv2d"),
        (Forward(lambda self, x: torch.fft.fft(self.conv(x))), "fft_fft", "function"),
        (Forward(lambda _, x: torch.cat([x, x], dim=2)), "cat", "function"),
        (Forward(lambda _, x: (x, x)), "(output)", "tuple"),
        (Forward(lambda _, x: x[..., :4]), "(forward)", "Forward"),
        (SHIPPED_MODELS["delay"](), "(forward)", "Delay"),
        (nn.Sequential(nn.Conv2d(1, 1, 1)).double(), "0.weight", "torch.float64"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_planned_is_refused_by_name(module, name, kind):
    with pytest.raises(UnsupportedLayerError) as caught:
        trace(module.eval())
    text = str(caught.value)
    assert f"layer {name!r} ({kind})" in text
    assert "executor='auto'" in text
    assert "\n" not in text


def test_a_script_is_refused():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        script = torch.jit.script(nn.ReLU())
    with pytest.raises(UnsupportedLayerError, match=r"takes an nn\.Module"):
        trace(script)


@pytest.mark.parametrize("last", [nn.ReLU(), nn.GELU()])
def test_the_module_is_left_as_it_was(last):
    module = nn.Sequential(nn.Conv2d(1, 2, 3), last).eval()
    before = [set(vars(part)) for part in module.modules()]
    try:
        trace(module)
    except UnsupportedLayerError:
        assert isinstance(last, nn.GELU)
    assert [set(vars(part)) for part in module.modules()] == before
    assert module(torch.zeros(1, 1, 5, 5)).shape == (1, 2, 3, 3)


def test_a_trace_leaves_no_reference_cycle():
    gc.collect()
    gc.disable()
    try:
        module = SHIPPED_MODELS["unet"]().eval()
        graph = weakref.ref(trace(module))
        gone = weakref.ref(module)
        del module
        assert graph() is None
        assert gone() is None
    finally:
        gc.enable()
