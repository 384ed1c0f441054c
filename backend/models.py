"""The models that ship: small, with the same weights on every machine and in every run."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


class Delay(nn.Module):  # type: ignore[misc]
    """Returns its previous input; the first of a shape is returned itself. Keeps its input."""

    def __init__(self) -> None:
        super().__init__()
        self.previous: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        previous, self.previous = self.previous, x
        return x if previous is None or previous.shape != x.shape else previous


class Denoiser(nn.Module):  # type: ignore[misc]
    """DnCNN: takes away the noise that its layers see."""

    def __init__(self, noise: nn.Module) -> None:
        super().__init__()
        self.noise = noise

    def forward(self, x: Tensor) -> Tensor:
        return x - self.noise(x)


def _conv(
    cin: int, cout: int, size: int, seed: int, *, gain: float = 2, bias: float = 0
) -> nn.Module:
    """A convolution that keeps height and width, weights normal with variance gain / fan-in."""
    # The global random state is the user's. (skip_init would spare it too, but by way of the meta
    # device, whose first use imports 35 MB of torch.)
    with torch.random.fork_rng(devices=()):
        layer = nn.Conv2d(cin, cout, size, padding=size // 2)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        layer.weight.normal_(0, math.sqrt(gain / (cin * size * size)), generator=generator)
        layer.bias.fill_(bias)
    return layer


def _espcn() -> nn.Module:
    """x2 super-resolution of luma (Shi et al. 2016): the result has twice the width and height."""
    return nn.Sequential(
        _conv(1, 64, 5, seed=1),
        nn.ReLU(),
        _conv(64, 32, 3, seed=2),
        nn.ReLU(),
        _conv(32, 4, 3, seed=3, gain=0.5, bias=0.5),
        nn.PixelShuffle(2),
    )


def _srcnn() -> nn.Module:
    """Restoration of luma at its own size (Dong et al. 2014), 9-5-5."""
    return nn.Sequential(
        _conv(1, 64, 9, seed=4),
        nn.ReLU(),
        _conv(64, 32, 5, seed=5),
        nn.ReLU(),
        _conv(32, 1, 5, seed=6, gain=0.5, bias=0.5),
    )


def _dncnn() -> nn.Module:
    """Denoiser of luma (Zhang et al. 2017), five layers of 3x3x32."""
    layers: list[nn.Module] = [_conv(1, 32, 3, seed=7), nn.ReLU()]
    for seed in (8, 9, 10):
        layers += [_conv(32, 32, 3, seed=seed), nn.ReLU()]
    return Denoiser(nn.Sequential(*layers, _conv(32, 1, 3, seed=11, gain=0.1)))


class UNet(nn.Module):  # type: ignore[misc]
    """Adds to its input what a U-Net with two halvings sees: width and height in fours."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(_conv(1, 16, 3, seed=14), nn.ReLU())
        self.second = nn.Sequential(_conv(16, 32, 3, seed=15), nn.ReLU())
        self.deepest = nn.Sequential(_conv(32, 32, 3, seed=16), nn.ReLU())
        self.pool = nn.MaxPool2d(2)
        self.repeat = nn.Upsample(scale_factor=2, mode="nearest")
        self.blend = nn.Upsample(scale_factor=2, mode="bilinear")
        self.second_up = nn.Sequential(_conv(64, 16, 3, seed=17), nn.ReLU())
        self.first_up = _conv(32, 1, 3, seed=18, gain=0.1)

    def forward(self, x: Tensor) -> Tensor:
        """[1, 1, H, W], the same size."""
        first = self.first(x)
        second = self.second(self.pool(first))
        deepest = self.deepest(self.pool(second))
        joined = self.second_up(torch.cat([second, self.blend(deepest)], dim=1))
        return x + self.first_up(torch.cat([first, self.repeat(joined)], dim=1))


def _small() -> nn.Module:
    """Two 3x3 convolutions on RGB."""
    return nn.Sequential(
        _conv(3, 8, 3, seed=12), nn.ReLU(), _conv(8, 3, 3, seed=13, gain=0.5, bias=0.4)
    )


SHIPPED_MODELS: dict[str, Callable[[], nn.Module]] = {
    "small": _small,
    "espcn": _espcn,
    "srcnn": _srcnn,
    "dncnn": _dncnn,
    "unet": UNet,
    "identity": nn.Identity,
    "delay": Delay,
}
