"""The patterns of real streams: from a name and random numbers to segments.

Needs no Hypothesis. All geometries are (width, height) in pixels, of `max_pixels` at most; all
segments together have `max_frames` frames at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import TypeAlias

from harness.workload import MAX_SIDE, Segment

Geometry: TypeAlias = tuple[int, int]
_Shape: TypeAlias = Callable[[Random, int], list[Geometry]]

PAGE_BYTES = 4096
STANDARD_SIZES: tuple[Geometry, ...] = (
    *((128, 96), (176, 144), (256, 144), (320, 180), (320, 240), (352, 288), (426, 240)),
    *((640, 360), (640, 480), (720, 480), (720, 576), (854, 480), (1280, 720), (1920, 1080)),
    *((2560, 1440), (3840, 2160), (7680, 4320)),
)
_LADDER = ((96, 54), (160, 90), (256, 144), (320, 180), (640, 360), (1280, 720), (1920, 1080))
_MOST_SEGMENTS = 8


def any_geometry(random: Random, max_pixels: int) -> Geometry:
    """A size of one of the kinds that backends go wrong at."""
    return random.choice(_KINDS)(random, max_pixels)


def make(
    name: str,
    random: Random,
    max_frames: int,
    max_pixels: int,
    formats: Sequence[str | None],
    rates: Sequence[Fraction],
) -> list[Segment]:
    """Segments of the pattern `name`, one of SHAPES."""
    geometries = SHAPES[name](random, max_pixels)[:max_frames]
    counts = _share(random, max_frames, len(geometries))
    if name == "spike":
        counts[len(counts) // 2] = 1
    rate, pixel_format = random.choice(rates), random.choice(formats)
    # One rate and one format throughout is what most streams have; some change them as well.
    new_rates, new_formats = random.random() < 0.4, random.random() < 0.4
    found = []
    for (width, height), frames in zip(geometries, counts, strict=True):
        found.append(Segment(width, height, rate, frames, pixel_format))
        rate = random.choice(rates) if new_rates else rate
        pixel_format = random.choice(formats) if new_formats else pixel_format
    return found


def _share(random: Random, frames: int, parts: int) -> list[int]:
    """At least one frame for each part, and no more than `frames` together."""
    total = random.randint(max(parts, frames // 2), frames)
    cuts = sorted(random.sample(range(1, total), parts - 1))
    return [end - start for start, end in zip([0, *cuts], [*cuts, total], strict=True)]


def _fit(width: int, height: int, max_pixels: int) -> Geometry:
    """The same shape, as near as may be, with no more than so many pixels."""
    if width * height > max_pixels:
        scale = math.sqrt(max_pixels / (width * height))
        width, height = max(1, int(width * scale)), max(1, int(height * scale))
    width = min(width, max_pixels, MAX_SIDE)
    return width, min(height, max_pixels // width, MAX_SIDE)


def _small(random: Random, max_pixels: int) -> Geometry:
    return _fit(random.randint(1, 9), random.randint(1, 9), max_pixels)


def _odd(random: Random, max_pixels: int) -> Geometry:
    side = math.isqrt(max_pixels)
    return _fit(random.randrange(1, side + 1) | 1, random.randrange(1, side + 1) | 1, max_pixels)


def _line(random: Random, max_pixels: int) -> Geometry:
    """An extreme aspect ratio: one to three pixels by many."""
    thin = random.randint(1, 3)
    long = random.randint(1, min(MAX_SIDE, max(1, max_pixels // thin)))
    return _fit(*random.choice([(thin, long), (long, thin)]), max_pixels)


def _standard(random: Random, max_pixels: int) -> Geometry:
    fitting = [(w, h) for w, h in STANDARD_SIZES if w * h <= max_pixels]
    return random.choice(fitting) if fitting else _fit(*random.choice(STANDARD_SIZES), max_pixels)


def _power_of_two(random: Random, max_pixels: int) -> Geometry:
    """Sides one below, at, or one above a power of two."""
    most = math.isqrt(max_pixels).bit_length()
    width, height = (max(1, (1 << random.randrange(most)) + random.randint(-1, 1)) for _ in "wh")
    return _fit(width, height, max_pixels)


def _page(random: Random, max_pixels: int) -> Geometry:
    """An area one below, at, or one above what fills whole pages, in bytes or in floats."""
    per_page = PAGE_BYTES // random.choice((1, 3, 4, 12))
    area = per_page * random.randint(1, max(1, max_pixels // per_page)) + random.randint(-1, 1)
    divisors = [side for side in range(1, min(MAX_SIDE, math.isqrt(area)) + 1) if area % side == 0]
    width = random.choice(divisors)
    return _fit(width, area // width, max_pixels)


_KINDS = (_small, _odd, _line, _standard, _power_of_two, _page)


def _equal_area(geometry: Geometry, random: Random, max_pixels: int) -> Geometry:
    """Another shape of the same area, or nearly so."""
    area = geometry[0] * geometry[1]
    width = random.randint(max(1, -(-area // MAX_SIDE)), min(area, MAX_SIDE))
    return _fit(width, max(1, area // width), max_pixels)


def _several(random: Random, max_pixels: int, least: int, most: int) -> list[Geometry]:
    found = [any_geometry(random, max_pixels)]
    for _ in range(random.randint(least, most) - 1):
        near = random.random() < 0.3
        found.append(
            _equal_area(found[-1], random, max_pixels) if near else any_geometry(random, max_pixels)
        )
    return found


def _area(geometry: Geometry) -> int:
    return geometry[0] * geometry[1]


def _unstructured(random: Random, max_pixels: int) -> list[Geometry]:
    return _several(random, max_pixels, 1, _MOST_SEGMENTS)


def _constant(random: Random, max_pixels: int) -> list[Geometry]:
    return [any_geometry(random, max_pixels)] * random.randint(1, 3)


def _concat_jump(random: Random, max_pixels: int) -> list[Geometry]:
    """Two or three clips joined, perhaps with the first once more."""
    found = _several(random, max_pixels, 2, 3)
    return [*found, found[0]] if random.random() < 0.5 else found


def _ladder(random: Random, max_pixels: int) -> list[Geometry]:
    """One rung up or down at a time."""
    rungs = [(w, h) for w, h in _LADDER if w * h <= max_pixels]
    if len(rungs) < 3:
        rungs = [_fit(w, h, max(1, max_pixels >> 2 * n)) for n, (w, h) in enumerate(_LADDER[:4])]
        rungs.reverse()
    at, found = random.randrange(len(rungs)), []
    for _ in range(random.randint(3, _MOST_SEGMENTS)):
        found.append(rungs[at])
        at = min(len(rungs) - 1, max(0, at + random.choice((-1, 1))))
    return found


def _growth(random: Random, max_pixels: int) -> list[Geometry]:
    return sorted(_several(random, max_pixels, 2, 6), key=_area)


def _shrink(random: Random, max_pixels: int) -> list[Geometry]:
    return sorted(_several(random, max_pixels, 2, 6), key=_area, reverse=True)


def _oscillation(random: Random, max_pixels: int) -> list[Geometry]:
    return _several(random, max_pixels, 2, 2) * random.randint(2, _MOST_SEGMENTS // 2)


def _sawtooth(random: Random, max_pixels: int) -> list[Geometry]:
    """Up by steps, down at once, and again."""
    return sorted(_several(random, max_pixels, 3, 4), key=_area) * 2


def _spike(random: Random, max_pixels: int) -> list[Geometry]:
    """A single frame of another size, the larger one."""
    low, high = sorted(_several(random, max_pixels, 2, 2), key=_area)
    return [low, high, low]


def _rotation(random: Random, max_pixels: int) -> list[Geometry]:
    width, height = any_geometry(random, max_pixels)
    return [(width, height), (height, width)] * random.randint(1, _MOST_SEGMENTS // 2)


def _shuffle(random: Random, max_pixels: int) -> list[Geometry]:
    """A small set of sizes in any order, each more than once."""
    found = _several(random, max_pixels, 2, 4) * 2
    random.shuffle(found)
    return found


SHAPES: dict[str, _Shape] = {
    "unstructured": _unstructured,
    "constant": _constant,
    "concat-jump": _concat_jump,
    "adaptive-ladder": _ladder,
    "growth": _growth,
    "shrink": _shrink,
    "oscillation": _oscillation,
    "sawtooth": _sawtooth,
    "spike": _spike,
    "rotation": _rotation,
    "shuffle": _shuffle,
}
"""by the pattern's name: its geometries, one per segment, out of random numbers"""
