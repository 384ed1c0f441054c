"""Series of memory as processes have it: clean ones of several shapes, and ones that leak."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

PAGE = 4096
MIB = 1 << 20
Series = NDArray[np.float64]
Generator = np.random.Generator


def level(r: Generator, n: int) -> Series:
    """A process at rest."""
    return np.full(n, r.uniform(5, 500) * MIB)


def warms_up(r: Generator, n: int) -> Series:
    """A ramp, or an approach, that is over before the middle."""
    size = r.uniform(1, 300) * MIB
    at = np.arange(n)
    if r.random() < 0.5:
        ramp = np.minimum(at / (r.uniform(0.02, 0.45) * n), 1)
    else:
        ramp = 1 - np.exp(-at / (r.uniform(0.01, 0.06) * n))
    return level(r, n) + size * ramp


def swings(r: Generator, n: int) -> Series:
    """A garbage collector's sawtooth: no two teeth have quite the same length and height."""
    period = n * r.uniform(0.01, 0.3)
    height, keeps = r.uniform(0.5, 50) * MIB, r.uniform(0, 0.1)
    values: list[float] = list(np.linspace(r.random(), 1, max(2, int(period * r.random()))))
    while len(values) < n:
        length = max(2, int(period * r.uniform(0.8, 1.2)))
        values += list(np.linspace(keeps * r.random(), r.uniform(0.8, 1.2), length))
    return level(r, n) + height * np.array(values[:n])


def walks(r: Generator, n: int) -> Series:
    """A walk between two bounds, which it reaches many times: a cache that fills and empties."""
    width = r.uniform(0.1, 20) * MIB
    step = width / np.sqrt(n * r.uniform(0.005, 0.1))
    walk = np.cumsum(r.normal(0, step, n)) + r.uniform(0, width)
    folded = np.mod(walk, 2 * width)
    return level(r, n) + np.where(folded > width, 2 * width - folded, folded)


def settles(r: Generator, n: int) -> Series:
    """Up to six steps, most of them up, the last one up to four fifths through."""
    values = level(r, n)
    for at in r.uniform(0, 0.8 * n, r.integers(1, 7)):
        values[int(at) :] += r.uniform(0.1, 10) * MIB * (1 if r.random() < 0.85 else -1)
    return values


CLEAN: dict[str, Callable[[Generator, int], Series]] = {
    "level": level,
    "warms up": warms_up,
    "swings": swings,
    "walks": walks,
    "settles": settles,
}


def sampled(values: Series, r: Generator) -> list[int]:
    """What a sampler sees: whole pages, a few that come and go, and often a start-up first."""
    n = len(values)
    noise = r.choice([0, 1, 4, 16]) * PAGE
    values = values + r.normal(0, 1, n) * noise
    if r.random() < 0.5:
        values = values - 30 * MIB * np.exp(-np.arange(n) / (n * r.uniform(0.002, 0.03)))
    if r.random() < 1 / 3:
        peaks = r.random(n) < r.uniform(0.01, 0.2)
        values = values + peaks * r.uniform(0.5, 20) * MIB
    return [max(0, int(value) // PAGE * PAGE) for value in values]


def clean(shape: str, seed: int) -> list[int]:
    """One clean series; the same for the same seed."""
    r = np.random.default_rng([seed, *shape.encode()])
    return sampled(CLEAN[shape](r, int(r.integers(100, 1200))), r)


def leaking(shape: str, seed: int, share: float) -> list[int]:
    """A series that also grows by `share` of its own range, or of 1 MiB if it has none."""
    r = np.random.default_rng([seed, *shape.encode()])
    n = int(r.integers(100, 1200))
    values = CLEAN[shape](r, n)
    size = max(float(np.ptp(values)), MIB) * share
    return sampled(values + size * np.arange(n) / n, r)
