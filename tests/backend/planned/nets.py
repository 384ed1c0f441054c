"""Networks from lists of words and numbers, so that they can be drawn, shrunk, printed and sent.

A part is a list: what it is, then its numbers. `build` makes the modules, with random weights.
"""

from __future__ import annotations

import torch
from torch import nn


class Beside(nn.Module):
    """Its input, put together with what an inner net makes of it."""

    def __init__(self, how, inner):
        super().__init__()
        self.how, self.inner = how, inner

    def forward(self, x):
        y = self.inner(x)
        if self.how == "add":
            return x + y
        if self.how == "sub":
            return x - y
        if self.how == "mul":
            return torch.mul(y, x)
        return torch.cat([y, x], dim=1)


class Gate(nn.Module):
    """Each channel times a number made of its mean: what squeeze-and-excitation does."""

    def __init__(self, channels):
        super().__init__()
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.weigh = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.weigh(self.mean(x))) * 0.5 + 0.25


def build(parts, channels, seed=0):
    """The module for these parts, and how many channels it makes."""
    torch.manual_seed(seed)
    layers = []
    for what, *numbers in parts:
        layer, channels = _layer(what, numbers, channels)
        layers.append(layer)
    return nn.Sequential(*layers).eval(), channels


def _layer(what, numbers, channels):
    if what in ("conv", "transposed"):
        return _convolution(what, numbers, channels)
    if what in ("beside", "halved"):
        return _nested(what, numbers, channels)
    if what == "shuffle":
        (factor,) = numbers
        return (
            nn.Sequential(nn.Conv2d(channels, 2 * factor**2, 1), nn.PixelShuffle(factor)),
            2,
        )
    return _simple(what, numbers, channels), channels


def _convolution(what, numbers, channels):
    outputs, kernel, stride, dilation, groups, padding, bias = numbers
    groups = channels if groups == "all" else groups
    groups = groups if channels % groups == 0 else 1
    outputs = -(-outputs // groups) * groups
    options = {"groups": groups, "bias": bool(bias), "dilation": dilation}
    if what == "conv":
        return nn.Conv2d(channels, outputs, kernel, stride, padding, **options), outputs
    padding = min(padding, dilation * (min(kernel) - 1))
    made = nn.ConvTranspose2d(
        channels, outputs, kernel, stride, padding, output_padding=stride - 1, **options
    )
    return made, outputs


def _nested(what, numbers, channels):
    how, parts = numbers
    inner, made = build(parts, channels, seed=len(parts))
    if what == "halved":
        up = nn.Upsample(scale_factor=2, mode=how)
        return Beside("cat", nn.Sequential(nn.MaxPool2d(2), inner, up)), channels + made
    if how == "cat":
        return Beside(how, inner), channels + made
    return Beside(how, nn.Sequential(inner, nn.Conv2d(made, channels, 1))), channels


def _simple(what, numbers, channels):
    if what == "norm":
        norm = nn.BatchNorm2d(channels)
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias)
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
        return norm
    if what == "prelu":
        return nn.PReLU(channels)
    if what == "gate":
        return Gate(channels)
    kinds = {
        "relu": nn.ReLU,
        "leaky": nn.LeakyReLU,
        "sigmoid": nn.Sigmoid,
        "tanh": nn.Tanh,
        "clamp": nn.Hardtanh,
        "max": nn.MaxPool2d,
        "average": nn.AvgPool2d,
        "zeros": nn.ZeroPad2d,
        "mirror": nn.ReflectionPad2d,
    }
    return kinds[what](*(tuple(one) if isinstance(one, list) else one for one in numbers))
