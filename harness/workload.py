"""Workloads: which frames, in which geometry, at which rate; their text form; named scenarios.

A workload prints as text that parses back to the same workload, so that any run can be replayed by
pasting it: `WIDTHxHEIGHT[:FORMAT]@FPS*FRAMES`, comma-separated. The frame rate is exact: `23.976`
is 23976/1000, and film's real rate is written `24000/1001`.

Imports neither numpy nor torch nor PyAV: it is on the way of `steadyframe --help`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from backend.frame import PIXEL_FORMATS
from harness.errors import UsageError, meant

# Beyond these a number is a typing error sooner than a wish. 8K video is 7680x4320: 2**25 pixels.
MAX_SIDE = 16_384
MAX_PIXELS = 2**26
MAX_FPS = 100_000
MAX_FPS_DENOMINATOR = 10**9
MAX_FRAMES = 10_000_000

SYNTAX = "WIDTHxHEIGHT[:FORMAT]@FPS*FRAMES"
EXAMPLE = "128x128@100*50"


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of `frames` frames of one geometry (pixels) at one rate (frames per second).

    `format` is a name of `PIXEL_FORMATS`; None stands for the backend's natural format.
    Raises UsageError for a number or a format that can't be meant.
    """

    width: int
    height: int
    fps: Fraction
    frames: int
    format: str | None = None

    def __post_init__(self) -> None:
        _check_range("the width", self.width, MAX_SIDE)
        _check_range("the height", self.height, MAX_SIDE)
        if self.width * self.height > MAX_PIXELS:
            raise UsageError(
                f"{self.width}x{self.height} is more than the {MAX_PIXELS} pixels a frame may have"
            )
        if not 0 < self.fps <= MAX_FPS:
            raise UsageError(f"the frame rate must be above 0 and at most {MAX_FPS}")
        if self.fps.denominator > MAX_FPS_DENOMINATOR:
            raise UsageError("the frame rate has too many digits: round it")
        _check_range("the number of frames", self.frames, MAX_FRAMES)
        if self.format is not None and self.format not in PIXEL_FORMATS:
            hint = meant(self.format, PIXEL_FORMATS)
            raise UsageError(f"the format {self.format!r} is unknown: {hint}")

    def __str__(self) -> str:
        pixel_format = "" if self.format is None else f":{self.format}"
        return f"{self.width}x{self.height}{pixel_format}@{_rate_text(self.fps)}*{self.frames}"


@dataclass(frozen=True, slots=True)
class Workload:
    """Segments, each of which starts when the last frame of the one before has had its time."""

    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        if not self.segments:
            raise UsageError(f"a workload needs a segment: write {SYNTAX}, for example {EXAMPLE}")
        if self.frame_count > MAX_FRAMES:
            raise UsageError(f"a workload has at most {MAX_FRAMES} frames, not {self.frame_count}")

    @classmethod
    def parse(cls, text: str) -> Workload:
        """Read the text form; raises UsageError that quotes the part at fault and mends it."""
        if not text.strip():
            raise UsageError(f"the workload is empty: write {SYNTAX}, for example {EXAMPLE}")
        segments = []
        column = 1
        for number, part in enumerate(text.split(","), start=1):
            try:
                segments.append(_parse_segment(part.strip()))
            except UsageError as error:
                where = column + len(part) - len(part.lstrip())
                raise UsageError(
                    f"workload segment {number} {_quote(part.strip())} (column {where}): {error}"
                ) from None
            column += len(part) + 1
        return cls(tuple(segments))

    @classmethod
    def named_or_parsed(cls, text: str) -> Workload:
        """The scenario of that name, else the workload that the text describes.

        Raises UsageError; for what looks like a misspelt name it gives the nearest one.
        """
        name = text.strip()
        if name in SCENARIOS:
            return SCENARIOS[name]
        if re.fullmatch(r"[A-Za-z][A-Za-z0-9_ -]*", name) is None:
            return cls.parse(text)
        raise UsageError(
            f"no scenario is called {_quote(name)}: {meant(name, SCENARIOS)} "
            f"(or write a workload as {SYNTAX}, for example {EXAMPLE})"
        )

    @property
    def frame_count(self) -> int:
        """Number of frames of all segments together."""
        return sum(segment.frames for segment in self.segments)

    @property
    def duration(self) -> Fraction:
        """Seconds that all frames take to arrive."""
        return sum((segment.frames / segment.fps for segment in self.segments), Fraction(0))

    def segment_of_each_frame(self) -> Iterator[Segment]:
        """For each frame, in order, the segment that says its geometry, format and rate."""
        for segment in self.segments:
            for _ in range(segment.frames):
                yield segment

    def with_format(self, default_format: str) -> Workload:
        """The same workload with `default_format` wherever no format is given."""
        return Workload(
            tuple(
                replace(segment, format=default_format) if segment.format is None else segment
                for segment in self.segments
            )
        )

    def repeated(self, times: int) -> Workload:
        """All segments, so many times over; raises UsageError beyond MAX_FRAMES frames."""
        return Workload(self.segments * times)

    def __str__(self) -> str:
        return ",".join(map(str, self.segments))


def _check_range(what: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise UsageError(f"{what} must be from 1 to {most}, not {value}")


def _rate_text(fps: Fraction) -> str:
    """The shorter one of `24000/1001` and `23.976` that is exact; the decimal one if both are."""
    rest, places = fps.denominator, 0
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest //= prime
            power += 1
        places = max(places, power)
    if rest != 1 or places == 0:
        return str(fps)
    digits = str(fps.numerator * 10**places // fps.denominator).rjust(places + 1, "0")
    decimal = f"{digits[:-places]}.{digits[-places:]}"
    return decimal if len(decimal) <= len(str(fps)) else str(fps)


# Thirty digits hold any rate that a Segment accepts, and keep int() away from its own limit.
_WHOLE = r"[0-9]{1,30}"
_RATE = rf"{_WHOLE}(?:\.{_WHOLE}|/{_WHOLE})?"
_GEOMETRY = re.compile(rf"({_WHOLE})x({_WHOLE})(?::([^:@*]+))?")
_SEGMENT = re.compile(rf"{_GEOMETRY.pattern}@({_RATE})\*({_WHOLE})")


def _parse_segment(text: str) -> Segment:
    """Read one segment; raises UsageError without the place, which `Workload.parse` adds."""
    match = _SEGMENT.fullmatch(text)
    if match is None:
        raise UsageError(_diagnosis(text))
    width, height, pixel_format, rate, frames = match.groups()
    try:
        fps = Fraction(rate)
    except ZeroDivisionError:
        raise UsageError(f"the frame rate {rate} divides by zero") from None
    return Segment(int(width), int(height), fps, int(frames), pixel_format)


def _diagnosis(text: str) -> str:
    """What is wrong with the text of a segment that `_SEGMENT` does not match."""
    if not text:
        return "it is empty: remove the comma that is too many"
    mended = _mended(text)
    if _SEGMENT.fullmatch(mended):
        return f"did you mean {mended}? The form is {SYNTAX}"
    geometry, at, rest = text.partition("@")
    rate, star, frames = rest.partition("*")
    if not at:
        fault = "the frame rate is missing (@FPS)"
    elif _GEOMETRY.fullmatch(geometry) is None:
        fault = f"{_quote(geometry)} is not WIDTHxHEIGHT or WIDTHxHEIGHT:FORMAT in whole pixels"
    elif re.fullmatch(_RATE, rate) is None:
        fault = f"{_quote(rate)} is not a frame rate such as 25, 23.976 or 24000/1001"
    elif not star:
        fault = "the number of frames is missing (*FRAMES)"
    else:
        fault = f"{_quote(frames)} is not a number of frames"
    return f"{fault}; write {SYNTAX}, for example {EXAMPLE}"


def _mended(text: str) -> str:
    """The text without the usual typing errors: spaces, X or * or x-like signs, `fps`."""
    tight = re.sub(r"\s+", "", text).lower().replace("\u00d7", "x")
    tight = re.sub(r"^([0-9]+)[*/:]([0-9]+)", r"\1x\2", tight)
    tight = re.sub(r"(?:fps|hz)(?=\*|x|$)", "", tight)
    return re.sub(r"@([0-9./]+)x([0-9]+)$", r"@\1*\2", tight)


def _quote(text: str) -> str:
    """The text in quotes on one line, cut when long."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


# Each takes about a second with a small model: what counts is the order of the sizes, not their
# amount. A run of one geometry outlasts the eight frames of warm-up, at 30 fps twice of them.
SCENARIOS: dict[str, Workload] = {
    name: Workload.parse(text)
    for name, text in {
        "constant": "128x128@25*60",
        "concat-jump": "128x128@100*50,256x256@100*50,128x128@100*50",
        "adaptive-ladder": (
            "96x54@30*30,160x90@30*30,256x144@30*30,320x180@30*30,160x90@30*30,256x144@30*30"
        ),
        "oscillation": ",".join(["128x96@25*20", "160x120@25*20"] * 4),
        "sawtooth": ",".join(["64x64@25*16", "96x96@25*16", "128x128@25*16", "160x160@25*16"] * 2),
        "rotation": ",".join(["160x90@50*24", "90x160@50*24"] * 3),
        "spike": "96x96@25*40,320x320@25*1,96x96@25*40",
        "burst": "96x96@25*20,96x96@1000*240,96x96@25*20",
    }.items()
}
