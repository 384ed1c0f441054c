"""The reference backend keeps every law under every workload."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from backend.reference import open_identity
from harness.strategies import frame_rates
from harness.workload import Segment, Workload
from tests.properties import laws
from tests.properties.drawing import FORMATS, modes, streams
from tests.properties.observing import Opener
from tests.properties.rounds import in_rounds, times
from tests.properties.telling import Subject, hold, verified

LAW_EXAMPLES = 150
STREAMS = streams(FORMATS["identity"])


def law_test(test: Callable[..., None]) -> Callable[..., None]:
    """Around @given: how many examples, and what is said of the one that breaks the law."""
    return in_rounds(verified()(times(LAW_EXAMPLES)(test)))


def identity(options: dict[str, Any]) -> Subject:
    return Subject("identity", open_identity, options)


@law_test
@given(modes(), STREAMS)
def test_results_are_those_of_a_computation_without_buffers(
    options: dict[str, Any], workload: Workload
) -> None:
    hold(laws.outputs_are_the_frames, identity(options), workload)


@law_test
@given(modes(), STREAMS)
def test_capacity_only_grows_and_on_record_steps_alone(
    options: dict[str, Any], workload: Workload
) -> None:
    hold(laws.capacity_only_grows, identity(options), workload)


@law_test
@given(modes(), STREAMS)
def test_every_request_has_room_for_the_largest_frame_and_grew_once_per_record(
    options: dict[str, Any], workload: Workload
) -> None:
    hold(laws.every_request_has_room, identity(options), workload)


@law_test
@given(modes(), STREAMS, st.randoms(use_true_random=False))
def test_segments_in_any_order_end_at_the_same_capacity(
    options: dict[str, Any], workload: Workload, random: Any
) -> None:
    shuffled = list(workload.segments)
    random.shuffle(shuffled)
    hold(laws.order_does_not_matter, identity(options), workload, Workload(tuple(shuffled)))


@law_test
@given(modes(), STREAMS)
def test_a_second_pass_adds_nothing(options: dict[str, Any], workload: Workload) -> None:
    hold(laws.a_second_pass_adds_nothing, identity(options), workload)


@law_test
@given(modes(), STREAMS)
def test_a_second_instance_holds_the_same(options: dict[str, Any], workload: Workload) -> None:
    hold(laws.a_second_instance_holds_the_same, identity(options), workload)


def rates_are_alike(opener: Opener, workload: Workload, other: Workload) -> None:
    """All that a law says of one workload at two rates, and of the second one."""
    laws.rate_does_not_matter(opener, workload, other)
    laws.in_flight_is_bounded(opener, other)
    laws.results_have_a_slot_each(opener, other)


@law_test
@given(modes(), STREAMS, frame_rates())
def test_the_rate_changes_no_result(
    options: dict[str, Any], workload: Workload, rate: Fraction
) -> None:
    other = Workload(
        tuple(Segment(s.width, s.height, rate, s.frames, s.format) for s in workload.segments)
    )
    hold(rates_are_alike, identity(options), workload, other)


@law_test
@given(st.data(), modes(), STREAMS)
def test_a_segment_cut_in_two_gives_the_same_counts(
    data: st.DataObject, options: dict[str, Any], workload: Workload
) -> None:
    at = data.draw(st.integers(0, workload.frame_count - 1))
    hold(laws.a_cut_does_not_matter, identity(options), workload, laws.cut(workload, at))


@law_test
@given(st.data(), modes(), STREAMS)
def test_all_is_released_at_once_wherever_it_is_closed(
    data: st.DataObject, options: dict[str, Any], workload: Workload
) -> None:
    frames = data.draw(st.integers(0, workload.frame_count))
    hold(laws.all_is_released, identity(options), workload, frames)
