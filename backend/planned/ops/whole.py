"""Layers that need all of their input before they can make anything: they work on planes."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from backend.planned.ops.base import Call, Operator, Shape, Site, bind
from backend.planned.places import Place, Plane


def _tensor(place: Place, shape: tuple[int, ...]) -> torch.Tensor:
    assert isinstance(place, Plane)
    return place.tensor(shape)


@dataclass
class GlobalAverage(Operator):
    """The mean of each channel: a product with a vector whose elements are one number."""

    kind = "AdaptiveAvgPool2d"
    whole = True

    def shape(self, *inputs: Shape) -> Shape:
        return inputs[0][0], 1, 1

    def method(self) -> str:
        return "a product with a vector"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        channels, height, width = site.sources[0]
        area = height * width
        samples = _tensor(site.inputs[0], (channels, area))
        share = torch.tensor([1 / area]).expand(area)
        mean = bind(torch.mv, samples, share, out=_tensor(site.output, (channels,)))
        return [mean, *self.finish(site, low, high)]


@dataclass
class Flatten(Operator):
    """All samples in one dimension."""

    kind = "Flatten"
    whole = True

    def shape(self, *inputs: Shape) -> Shape:
        channels, height, width = inputs[0]
        return channels * height * width, 1, 1

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        shape = (site.target[0],)
        copied = bind(_tensor(site.output, shape).copy_, _tensor(site.inputs[0], shape))
        return [copied, *self.finish(site, low, high)]


@dataclass
class Linear(Operator):
    """A fully connected layer on a flattened value."""

    weight: torch.Tensor
    """[outputs, inputs]"""
    bias: torch.Tensor | None

    kind = "Linear"
    whole = True

    def shape(self, *inputs: Shape) -> Shape:
        if inputs[0] != (self.weight.shape[1], 1, 1):
            raise self.unusable(f"takes {self.weight.shape[1]} features, not {inputs[0][0]}")
        return self.weight.shape[0], 1, 1

    def method(self) -> str:
        return "one product"

    def calls(self, site: Site, low: int, high: int) -> list[Call]:
        outputs, inputs = self.weight.shape
        target = _tensor(site.output, (outputs, 1))
        column = _tensor(site.inputs[0], (inputs, 1))
        product: Call
        if self.bias is None:
            product = bind(torch.mm, self.weight, column, out=target)
        else:
            bias = self.bias.reshape(-1, 1)
            product = bind(torch.addmm, bias, self.weight, column, out=target)
        return [product, *self.finish(site, low, high)]
