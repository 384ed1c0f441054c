"""The calls that make one geometry's output, all bound to their operands beforehand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeAlias

import torch

from backend.planned.arena import FLOAT_BYTES, Arena
from backend.planned.describe import describe
from backend.planned.graph import INPUT, Graph
from backend.planned.layout import Layout, StageLayout
from backend.planned.native import Piece, compiled, translated
from backend.planned.ops.base import ROWS, Call, Site, bind
from backend.planned.places import Place, Plane, Window
from backend.planned.schedule import Production, Rows
from backend.planned.stages import Ref, Step

Part: TypeAlias = tuple[Piece, ...]
"""what one layer does for some rows; it may come up many times"""
Program: TypeAlias = tuple[tuple[Call, ...], ...]
"""Calls in chunks, so that no tuple takes a page of memory however tall the frame is."""

_CHUNK = 500


def run_program(program: Program) -> None:
    """Make all calls in their order."""
    for chunk in program:
        for call in chunk:
            call()


class Planar:
    """The model's input or output in the arena, [1, channels, height, width], and its planes."""

    __slots__ = ("planes", "tensor")

    def __init__(self, plane: Plane, *, flat: bool = False) -> None:
        shape = (1, plane.channels) if flat else (1, plane.channels, plane.height, plane.width)
        self.tensor = plane.tensor(shape)
        area = plane.height * plane.width
        self.planes: tuple[torch.Tensor, ...] = tuple(
            plane.arena.floats(
                (plane.height, plane.width), (plane.width, 1), plane.offset + channel * area
            )
            for channel in range(plane.channels)
        )


class Plan:
    """What is to be done for frames of one geometry."""

    __slots__ = ("graph", "input", "layout", "output", "stages")

    def __init__(self, graph: Graph, layout: Layout, arena: Arena, lanes: int) -> None:
        """All views are on the arena, which must have room for the layout."""
        self.graph = graph  # its constants must outlive the stages
        self.layout = layout
        planes = {
            value: Plane(arena, *layout.shapes[value], item.offset)
            for value, item in layout.planes.items()
        }
        self.input = Planar(planes[INPUT])
        self.output = Planar(planes[graph.output], flat=graph.output in graph.flat)
        self.stages: list[tuple[Program, ...]] = []
        """of each stage, one program per lane; a lane waits for all before the next stage"""
        for number, part in enumerate(layout.stages):
            programs = [
                _program(_Lane(layout, arena, planes, number, lane).parts(), arena)
                for lane in range(lanes)
            ]
            if part.stage.whole:
                alone = _program(_whole(layout, arena, planes, part), arena)
                self.stages.append(tuple(programs))
                self.stages.append((alone, *(() for _ in range(lanes - 1))))
            else:
                self.stages.append(tuple(programs))

    def describe(self) -> str:
        """The plan as a table for people."""
        return describe(self.layout)

    @property
    def nbytes(self) -> int:
        """What it takes of the arena."""
        return self.layout.floats * FLOAT_BYTES


def _program(parts: Iterable[Part], arena: Arena) -> Program:
    calls = compiled(chain.from_iterable(parts), arena)
    return tuple(iter(lambda: tuple(islice(calls, _CHUNK)), ()))


def _whole(layout: Layout, arena: Arena, planes: dict[int, Plane], part: StageLayout) -> list[Part]:
    parts = []
    for step in part.stage.whole:
        sources = [layout.shapes[ref.value] for ref in step.inputs]
        target = layout.shapes[step.output.value]
        inputs: list[Place] = [planes[ref.value] for ref in step.inputs]
        site = Site(arena, inputs, planes[step.output.value], sources, target)
        parts.append(tuple(translated(step.operator.calls(site, 0, target[1]), arena)))
    return parts


class _Lane:
    """Binds the calls of one stage in one lane, strip after strip."""

    def __init__(
        self, layout: Layout, arena: Arena, planes: dict[int, Plane], number: int, lane: int
    ) -> None:
        self._layout, self._arena, self._planes = layout, arena, planes
        self._number, self._lane = number, lane
        self._part = layout.stages[number]

    def parts(self) -> Iterator[Part]:
        """Strip after strip, and in each from top to bottom."""
        part = self._part
        first, stop = part.lane_cycles(self._lane)
        if first == stop:
            return
        rows = Rows(part.stage, self._layout.shapes, part.division)
        for strip in range(part.division.strips):
            sites, windows = self._sites(strip)
            yield from (_clear(windows[ref], part.extents[self._lane][ref].rows) for ref in windows)
            known: dict[int, dict[Hashable, Part]] = {}
            for productions in rows.cycles(first, stop):
                for made in productions:
                    if made.low < made.high and made.step.time in sites:
                        site = sites[made.step.time]
                        yield from self._made(site, made, known.setdefault(made.step.time, {}))

    def _sites(self, strip: int) -> tuple[dict[int, Site], dict[Ref, Window]]:
        part, shapes = self._part, self._layout.shapes
        found = part.strips[strip]
        windows: dict[Ref, Window] = {}
        sites: dict[int, Site] = {}
        for step in part.stage.steps:
            ref = step.output
            if ref not in found:
                continue
            output: Place
            if ref.plane:
                output = _strip(self._planes[ref.value], found[ref].inner)
            else:
                offset = self._layout.windows[self._number, ref, self._lane].offset
                channels, pad = shapes[ref.value][0], part.pad(strip, step)
                output = windows[ref] = Window(self._arena, channels, found[ref].inner, pad, offset)
            inputs: list[Place] = [
                self._planes[source.value] if source.plane else windows[source]
                for source in step.inputs
            ]
            scratch = self._layout.scratch.get((step.time, self._lane))
            sites[step.time] = Site(
                self._arena,
                inputs,
                output,
                [shapes[source.value] for source in step.inputs],
                shapes[ref.value],
                scratch.offset if scratch else 0,
            )
            if isinstance(output, Window):
                output.base = -_FAR
        return sites, windows

    def _made(self, site: Site, made: Production, known: dict[Hashable, Part]) -> Iterator[Part]:
        """Room for the new rows, zeros above the frame, the rows themselves, zeros below it."""
        output, height = site.output, site.target[1]
        low, high = min(max(made.low, 0), height), min(max(made.high, 0), height)
        if isinstance(output, Window):
            capacity = self._part.extents[self._lane][made.step.output].rows
            if made.high - output.base > capacity:
                yield from _move(output, made, known)
            for first, stop in ((made.low, min(made.high, 0)), (max(made.low, height), made.high)):
                if first < stop:
                    above = output.lines(first, stop - first, output.first_column, output.pitch)
                    yield tuple(translated([above.zero_], self._arena))
        if low < high:
            key = _key(site, made.step, low, high)
            part = known.get(key)
            if part is None:
                calls = made.step.operator.calls(site, low, high)
                part = tuple(translated(calls, self._arena))
                if key is not None:
                    known[key] = part
            yield part


_FAR = 1 << 40
"""no row has a number like this: an empty window has its first row there"""


def _strip(plane: Plane, inner: range) -> Place:
    return Place(
        plane.arena,
        channels=plane.channels,
        row_stride=plane.row_stride,
        channel_stride=plane.channel_stride,
        offset=plane.offset + inner.start,
        columns=inner,
    )


def _clear(window: Window, rows: int) -> Part:
    """Zeros beside the lines, for as long as the strip lasts: nobody writes there again."""
    if not window.pad:
        return ()
    base, window.base = window.base, 0
    calls = [window.front().zero_, window.margins(0, rows).zero_]
    window.base = base
    return tuple(translated(calls, window.arena))


def _move(window: Window, made: Production, known: dict[Hashable, Part]) -> Iterator[Part]:
    """Move the rows that are still needed to the window's beginning."""
    shift, count = made.kept - window.base, made.low - made.kept
    window.base = made.kept
    if count <= 0:
        return
    key = "move", shift, count
    if key not in known:
        calls: list[Call] = []
        # In pieces no longer than the way, since a copy must not overlap itself.
        for row in range(made.kept, made.low, shift):
            floats = (min(row + shift, made.low) - row) * window.row_stride
            start = window.position(row, window.first_column)
            source = window.arena.floats((floats,), (1,), start + shift * window.row_stride)
            calls.append(bind(window.arena.floats((floats,), (1,), start).copy_, source))
        known[key] = tuple(translated(calls, window.arena))
    yield known[key]


def _key(site: Site, step: Step, low: int, high: int) -> Hashable:
    """What tells calls apart, None if they are for these rows alone: planes stay where they are."""
    if not isinstance(site.output, Window):
        return None
    places: list[int] = []
    for index, (place, shape) in enumerate(zip(site.inputs, site.sources, strict=True)):
        if index in step.vectors:
            continue
        if not isinstance(place, Window):
            return None
        places.append(step.operator.need(ROWS, low, high, shape[1])[0] - place.base)
    return (
        low - site.output.base,
        high - low,
        tuple(places),
        step.operator.phase(low, high, site),
    )
