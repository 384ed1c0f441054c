"""The laws that a backend keeps under every workload, each a function that raises if it doesn't.

They take whatever opens a backend that maps a frame to itself and has `nireq` and
`stats().peak_in_flight`: the reference backend, and the planted ones that break a law.
"""

from __future__ import annotations

import gc

import numpy as np

from backend.frame import PIXEL_FORMATS
from harness.plan import plan_steps
from harness.source import synthetic_source
from harness.workload import Segment, Workload
from tests.properties.observing import DEFAULT_FORMAT, Opener, feed, held_bytes, run, watch


def outputs_are_the_frames(opener: Opener, workload: Workload) -> None:
    """Results in order, each equal to a computation that uses no buffer: here, to the frame."""
    source = synthetic_source(workload, DEFAULT_FORMAT, seed=0)
    outputs = run(opener, workload).outputs
    assert len(outputs) == len(source), f"{len(outputs)} results of {len(source)} frames"
    for number, output in enumerate(outputs):
        data = source.frame(number).data
        assert output.shape == data.shape, f"result {number} is {output.shape}, not {data.shape}"
        assert np.array_equal(output, data), f"result {number} shows other pixels than its frame"


def capacity_only_grows(opener: Opener, workload: Workload) -> None:
    """What is held never falls, and rises on record steps only."""
    before = 0
    for look in run(opener, workload).looks:
        name = f"step {look.step.index} ({look.step.width}x{look.step.height})"
        assert look.held >= before, f"{name}: {before} bytes became {look.held}"
        if look.held > before:
            what = f"{name}: {before} bytes became {look.held}, though it needs no more"
            assert look.step.phase == "record", what
        before = look.held


def every_request_has_room(opener: Opener, workload: Workload) -> None:
    """For the largest frame, having grown once per record."""
    formats = [PIXEL_FORMATS[one.format or DEFAULT_FORMAT] for one in workload.segments]
    areas = [one.width * one.height for one in workload.segments]
    pairs = list(zip(formats, workload.segments, strict=True))
    sizes = [pixel_format.nbytes(one.width, one.height) for pixel_format, one in pairs]
    samples = [area * one.channels for area, one in zip(areas, formats, strict=True)]
    records = len({max(sizes[: n + 1]) for n in range(len(sizes))})
    larger = len({max(samples[: n + 1]) for n in range(len(samples))})
    backend = opener()
    try:
        feed(backend, workload)
        stats = backend.stats()
        assert set(stats.staging_bytes) == {max(sizes)}
        assert set(stats.input_bytes) == {4 * max(samples)}
        pools = backend.nireq * (records + larger) + larger
        assert stats.growth_events <= pools + stats.result_slots * len(set(sizes))
    finally:
        backend.close()


def order_does_not_matter(opener: Opener, workload: Workload, other: Workload) -> None:
    """The same segments in another order end at the same capacity."""
    one, two = _by_segments(opener, workload), _by_segments(opener, other)
    assert one == two, f"{one} bytes in this order, {two} in the order {other}"


def a_second_pass_adds_nothing(opener: Opener, workload: Workload) -> None:
    """Neither to the same instance, nor to the next one."""
    once, twice = _by_segments(opener, workload), _by_segments(opener, workload, passes=2)
    assert twice == once, f"{once} bytes after one pass, {twice} after a second one"


def a_second_instance_holds_the_same(opener: Opener, workload: Workload) -> None:
    """What an instance holds does not depend on those before it."""
    one, two = run(opener, workload).held, run(opener, workload).held
    assert one == two, f"{one[-1]} bytes in the first cycle, {two[-1]} in the second"


def rate_does_not_matter(opener: Opener, workload: Workload, other: Workload) -> None:
    """At another rate: the same results; what is in flight is bounded by the requests."""
    one, two = run(opener, workload), run(opener, other)
    assert len(one.outputs) == len(two.outputs)
    same = [
        np.array_equal(first, second)
        for first, second in zip(one.outputs, two.outputs, strict=True)
    ]
    assert all(same), f"result {same.index(False)} differs at the rates of {other}"


def in_flight_is_bounded(opener: Opener, workload: Workload) -> None:
    """No more frames are in flight than there are requests."""
    backend = opener()
    try:
        peak = feed(backend, workload).peak_in_flight
        assert peak <= backend.nireq, f"{peak} frames in flight, with {backend.nireq} requests"
    finally:
        backend.close()


def results_have_a_slot_each(opener: Opener, workload: Workload) -> None:
    """There are as many slots as results in the largest step."""
    steps = plan_steps(workload, warmup=0, default_format=DEFAULT_FORMAT)
    most = max(step.last - step.first + 1 for step in steps)
    backend = opener()
    try:
        feed(backend, workload, steps)
        slots = backend.stats().result_slots
        assert slots == most, f"{slots} slots, {most} results in the largest step"
    finally:
        backend.close()


def a_cut_does_not_matter(opener: Opener, workload: Workload, other: Workload) -> None:
    """A segment in two parts gives the same counts as in one."""
    one, two = run(opener, workload).held, run(opener, other).held
    assert one == two, f"held after each step: {one}, and {two} for {other}"


def all_is_released(opener: Opener, workload: Workload, frames: int) -> None:
    """Closed after so many frames, without a wait, nothing is left, with the collector off."""
    source = synthetic_source(workload, DEFAULT_FORMAT, seed=0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        backend = opener()
        for number in range(frames):
            backend.execute(source.frame(number))
        watched = watch(backend)
        backend.close()
        del backend
        left = [type(one).__name__ for ref in watched if (one := ref()) is not None]
    finally:
        if collecting:
            gc.enable()
    assert not left, f"after close and the last reference there are {left}"


def _by_segments(opener: Opener, workload: Workload, passes: int = 1) -> int:
    """Bytes held when each segment was fed by itself: no burst spans two of them."""
    backend = opener()
    try:
        for _ in range(passes):
            for segment in workload.segments:
                alone = Workload((segment,))
                feed(backend, alone, plan_steps(alone, warmup=0, default_format=DEFAULT_FORMAT))
        return held_bytes(backend)
    finally:
        backend.close()


def cut(workload: Workload, at: int) -> Workload:
    """The same frames, with the segment that frame `at` belongs to cut in two before it."""
    segments: list[Segment] = []
    for one in workload.segments:
        before = at - sum(segment.frames for segment in segments)
        if 0 < before < one.frames:
            for frames in (before, one.frames - before):
                segments.append(Segment(one.width, one.height, one.fps, frames, one.format))
        else:
            segments.append(one)
    return Workload(tuple(segments))
