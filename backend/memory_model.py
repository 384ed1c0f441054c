"""What the reference backend holds after each step, as a pure function of the frames.

Which request serves which frame is fixed: the queue of idle requests is first in, first out, and
one thread at a time serves them, so that frame n, counted from 0, goes to request n mod nireq. And:

- Staging: every request has room for the largest frame so far, in bytes. All grow together.
- Input: the same, in floats. A model that keeps its input has that buffer for itself, and another
  one of the same size takes its place.
- Scratch: the largest result so far, in floats.
- Result pool: a result takes the smallest free slot that is large enough, of equal ones the first
  of its geometry, else the largest of the others, which grows, else a new one. All slots are free
  again when a step has ended.

Beside its bytes, a buffer has views: on a frame's geometry one of all pixels and one per plane,
made when a request or a slot comes to serve another geometry than before, dropped when it grows;
that of all pixels of a result is made, and the old one dropped, when the result is collected.
Nothing else is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backend.convert import FLOAT_BYTES
from backend.frame import PIXEL_FORMATS, PixelFormat
from backend.models import SHIPPED_MODELS
from backend.protocol import Shape

SCALES = dict.fromkeys(SHIPPED_MODELS, 1) | {"espcn": 2}
"""how many times wider and higher a model's results are than its input"""


@dataclass
class Buffer:
    """One grow-only block and the views on it."""

    blank_views: int
    """views that it has while it has no geometry"""
    nbytes: int = 0
    views: int = 0
    geometry: tuple[object, ...] = ()

    def __post_init__(self) -> None:
        self.views = self.blank_views

    def reserve(self, nbytes: int) -> None:
        """Grow if that is more than there is."""
        if nbytes > self.nbytes:
            self.nbytes, self.views, self.geometry = nbytes, self.blank_views, ()

    def shape_as(self, channels: int, geometry: tuple[object, ...]) -> None:
        """Be viewed as frames of this geometry."""
        if geometry != self.geometry:
            self.views, self.geometry = 1 + channels, geometry


def pixels() -> Buffer:
    """A buffer in a frame's layout."""
    return Buffer(0)


def tensor() -> Buffer:
    """A buffer for a tensor, which has one of no elements to begin with."""
    return Buffer(1)


@dataclass(frozen=True)
class Holding:
    """What is held at one moment."""

    buffer_bytes: int
    storages: int
    views: int


@dataclass
class Reference:
    """The backend as far as its memory goes."""

    nireq: int
    model: str
    staging: list[Buffer] = field(init=False)
    inputs: list[Buffer] = field(init=False)
    scratch: Buffer = field(default_factory=tensor)
    slots: list[Buffer] = field(default_factory=list)
    lent: list[Buffer] = field(default_factory=list)
    kept: Buffer | None = None
    """the input that the model keeps"""
    served: int = 0

    def __post_init__(self) -> None:
        self.staging = [pixels() for _ in range(self.nireq)]
        self.inputs = [tensor() for _ in range(self.nireq)]

    @property
    def buffers(self) -> list[Buffer]:
        """All that are held now."""
        buffers = [*self.staging, *self.inputs, self.scratch, *self.slots, *self.lent]
        if self.kept is not None and not any(self.kept is one for one in self.lent):
            buffers.append(self.kept)
        return buffers

    def holding(self) -> Holding:
        """The same in numbers."""
        buffers = self.buffers
        return Holding(
            sum(one.nbytes for one in buffers), len(buffers), sum(one.views for one in buffers)
        )

    def step(self, frames: Sequence[Shape]) -> None:
        """Serve the frames of one step, whose results are collected at its end."""
        taken: list[Buffer] = []
        scale = SCALES[self.model]
        for name, width, height in frames:
            pixel_format = PIXEL_FORMATS[name]
            self.submit(pixel_format, width, height)
            taken.append(self.infer(pixel_format, width * scale, height * scale, taken))

    def submit(self, pixel_format: PixelFormat, width: int, height: int) -> None:
        """A frame that can be taken is staged, and the model sees it."""
        nbytes, channels = pixel_format.nbytes(width, height), pixel_format.channels
        input_bytes = channels * width * height * FLOAT_BYTES
        number = self.served % self.nireq
        self.served += 1
        staging = self.staging[number]
        if staging.nbytes < nbytes or self.inputs[number].nbytes < input_bytes:
            for one in self.staging:
                one.reserve(nbytes)
            for one in self.inputs:
                one.reserve(input_bytes)
            self._grow_lent(input_bytes)
        staging.shape_as(channels, (pixel_format.name, width, height))
        self.inputs[number].shape_as(channels, (channels, width, height))
        if self.model == "delay":
            self._keep(number)

    def _grow_lent(self, nbytes: int) -> None:
        """What the model keeps can't grow: the backend gives it up for another."""
        for place, one in enumerate(self.lent):
            if one.nbytes < nbytes:
                fresh = tensor() if one is self.kept else one
                fresh.reserve(nbytes)
                self.lent[place] = fresh

    def _keep(self, number: int) -> None:
        """The model keeps this input, and lets go of the one before."""
        keeping = self.inputs[number]
        if keeping is self.kept:
            return
        self.kept = keeping
        if self.lent:
            self.inputs[number], self.lent[0] = self.lent[0], keeping
            return
        fresh = tensor()
        fresh.reserve(keeping.nbytes)
        self.inputs[number] = fresh
        self.lent.append(keeping)

    def infer(
        self, pixel_format: PixelFormat, width: int, height: int, taken: list[Buffer]
    ) -> Buffer:
        """A result is made; `taken` are the slots whose results somebody has."""
        channels = pixel_format.channels
        self.scratch.reserve(channels * width * height * FLOAT_BYTES)
        self.scratch.shape_as(channels, (channels, width, height))
        nbytes = pixel_format.nbytes(width, height)
        geometry = (pixel_format.name, width, height)
        free = [one for one in self.slots if not any(one is other for other in taken)]
        enough = [one for one in free if one.nbytes >= nbytes]
        if enough:
            slot = min(enough, key=lambda one: (one.nbytes, one.geometry != geometry))
        elif free:
            slot = max(free, key=lambda one: one.nbytes)
        else:
            slot = pixels()
            self.slots.append(slot)
        slot.reserve(nbytes)
        slot.shape_as(channels, geometry)
        return slot


def blocks(steps: Sequence[Sequence[Shape]], model: str, nireq: int) -> Iterator[list[int]]:
    """Bytes of each block that is held after each step: the weights, and the buffers."""
    weights = [weight.nbytes for weight in SHIPPED_MODELS[model]().parameters()]
    reference = Reference(nireq, model)
    for frames in steps:
        reference.step(frames)
        yield weights + [buffer.nbytes for buffer in reference.buffers]
