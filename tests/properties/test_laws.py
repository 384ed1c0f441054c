"""The reference backend keeps every law under every workload."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend.frame import PIXEL_FORMATS
from backend.reference import TorchBackend, open_identity
from harness.plan import plan_steps
from harness.strategies import frame_rates
from harness.workload import Segment, Workload
from tests.properties import laws
from tests.properties.drawing import FORMATS, modes, streams, times
from tests.properties.observing import feed

ORDINARY = 150
STREAMS = streams(FORMATS["identity"])


def opener(options: dict[str, Any]) -> functools.partial[TorchBackend]:
    return functools.partial(open_identity, **options)


def hold(law: Callable[..., None], options: dict[str, Any], workload: Workload, *more: Any) -> None:
    """Require a law; what is said of a failure can be replayed."""
    try:
        law(opener(options), workload, *more)
    except AssertionError as error:
        words = ["steadyframe", "verify", "identity", "--workload", str(workload)]
        for name, value in options.items():
            words += ["--arg", f"{name}={value}"]
        raise AssertionError(f"{error}\n  on {workload}\n  replay: {shlex.join(words)}") from None


@times(ORDINARY)
@given(modes(), STREAMS)
def test_results_are_those_of_a_computation_without_buffers(
    options: dict[str, Any], workload: Workload
) -> None:
    hold(laws.outputs_are_the_frames, options, workload)


@times(ORDINARY)
@given(modes(), STREAMS)
def test_capacity_only_grows_and_on_record_steps_alone(
    options: dict[str, Any], workload: Workload
) -> None:
    hold(laws.capacity_only_grows, options, workload)


@times(ORDINARY)
@given(modes(), STREAMS)
def test_every_request_has_room_for_the_largest_frame_and_grew_once_per_record(
    options: dict[str, Any], workload: Workload
) -> None:
    sizes = [
        PIXEL_FORMATS[segment.format or "rgb24"].nbytes(segment.width, segment.height)
        for segment in workload.segments
    ]
    samples = [
        segment.width * segment.height * PIXEL_FORMATS[segment.format or "rgb24"].channels
        for segment in workload.segments
    ]
    records = len({max(sizes[: n + 1]) for n in range(len(sizes))})
    larger = len({max(samples[: n + 1]) for n in range(len(samples))})
    with opener(options)() as backend:
        feed(backend, workload)
        stats = backend.stats()
        assert set(stats.staging_bytes) == {max(sizes)}
        assert set(stats.input_bytes) == {4 * max(samples)}
        pools = backend.nireq * (records + larger) + larger
        assert stats.growth_events <= pools + stats.result_slots * len(set(sizes))


@times(ORDINARY)
@given(modes(), STREAMS, st.randoms(use_true_random=False))
def test_segments_in_any_order_end_at_the_same_capacity(
    options: dict[str, Any], workload: Workload, random: Any
) -> None:
    shuffled = list(workload.segments)
    random.shuffle(shuffled)
    hold(laws.order_does_not_matter, options, workload, Workload(tuple(shuffled)))


@times(ORDINARY)
@given(modes(), STREAMS)
def test_a_second_pass_adds_nothing(options: dict[str, Any], workload: Workload) -> None:
    hold(laws.a_second_pass_adds_nothing, options, workload)


@times(ORDINARY)
@given(modes(), STREAMS)
def test_a_second_instance_holds_the_same(options: dict[str, Any], workload: Workload) -> None:
    hold(laws.a_second_instance_holds_the_same, options, workload)


@times(ORDINARY)
@given(modes(), STREAMS, frame_rates())
def test_the_rate_changes_no_result(
    options: dict[str, Any], workload: Workload, rate: Fraction
) -> None:
    other = Workload(
        tuple(Segment(s.width, s.height, rate, s.frames, s.format) for s in workload.segments)
    )
    hold(laws.rate_does_not_matter, options, workload, other)
    hold(laws.in_flight_is_bounded, options, other)
    with opener(options)() as backend:
        feed(backend, other)
        steps = plan_steps(other, warmup=0, default_format="rgb24")
        assert backend.stats().result_slots == max(s.last - s.first + 1 for s in steps)


@times(ORDINARY)
@given(st.data(), modes(), STREAMS)
def test_a_segment_cut_in_two_gives_the_same_counts(
    data: st.DataObject, options: dict[str, Any], workload: Workload
) -> None:
    at = data.draw(st.integers(0, workload.frame_count - 1))
    hold(laws.a_cut_does_not_matter, options, workload, laws.cut(workload, at))


@times(ORDINARY)
@given(st.data(), modes(), STREAMS)
def test_all_is_released_at_once_wherever_it_is_closed(
    data: st.DataObject, options: dict[str, Any], workload: Workload
) -> None:
    frames = data.draw(st.integers(0, workload.frame_count))
    hold(laws.all_is_released, options, workload, frames)
