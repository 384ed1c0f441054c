"""The reference backend holds what the model says, to the byte, after every step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from backend.buffer import GrowOnlyBuffer
from backend.memory_model import Holding, Reference
from harness.batch import Part, measure
from harness.contract import Contract
from harness.expectation import shapes_of_steps
from harness.plan import plan_steps
from harness.probes import trace
from harness.timeline import Span, Timeline
from harness.workload import Workload
from tests.properties.drawing import FORMATS, batches, modes
from tests.properties.rounds import TRACED, in_rounds, ran, times
from tests.properties.telling import save

CYCLES = 2
BLOCKS = "buffer.py"
ARRAYS = "new_array"
DIMENSIONS = frozenset({32, 48})
"""bytes of the dimensions and strides of an array of two or three, beside its data"""
THREAD_NOTE = 32
"""bytes of glibc's note that a library's thread-local state has a destructor, made when a thread
first needs that state: in async mode there is a new thread in each cycle"""
PER_THREAD = 208
"""bytes that libgomp takes for its settings of a thread, once, when it is first asked for them"""


@pytest.fixture(scope="module")
def handles(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, int]:
    """Bytes of a storage and of a view beside their memory, in this build of torch."""
    buffer = GrowOnlyBuffer(torch.device("cpu"))
    buffer.reserve(1)
    path = tmp_path_factory.mktemp("handles") / "trace"

    def traced(make: Any) -> int:
        make()  # first use
        path.unlink(missing_ok=True)
        with trace.tracker(path):
            kept = make()
        live: dict[int, int] = {}
        for record in trace.read(path):
            if record.allocator in trace.FREES:
                live.pop(record.address, None)
            else:
                stack = record.stack_trace()
                if stack and any(Path(file).name == BLOCKS for _, file, _ in stack):
                    live[record.address] = record.size
        del kept
        return sum(live.values())

    fresh = traced(lambda: GrowOnlyBuffer(torch.device("cpu")))
    return fresh, traced(lambda: buffer.view(torch.uint8, (1,), (1,)))


def expected(
    workload: Workload, *, mode: str, nireq: int, model: str, default_format: str
) -> list[Holding]:
    """What is held after opening, and then after each step of the workload."""
    reference = Reference(nireq if mode == "async" else 1, model)
    holdings = [reference.holding()]
    whole = workload.with_format(default_format)
    steps = plan_steps(workload, warmup=0, default_format=default_format)
    for frames in shapes_of_steps(whole, steps):
        reference.step(frames)
        holdings.append(reference.holding())
    return holdings


def primer(formats: tuple[str, ...]) -> Workload:
    """Goes once down every path, so that first use is over: the first part of each process."""
    return Workload.parse(
        ",".join(
            f"{size}:{name}@{rest}"
            for name in formats
            for size, rest in (("1x1", "25*2"), ("64x65", "100*8"), ("3x2", "1000*12"))
        )
    )


def is_own(span: Span) -> bool:
    """A buffer or a view: made where buffers are, or where a view becomes an array."""
    if Path(span.site.file).name == BLOCKS:
        return True
    return span.site.function == ARRAYS and not is_dimensions(span)


def is_dimensions(span: Span) -> bool:
    """Whether it came into numpy's list of dimensions."""
    return span.site.function == ARRAYS and span.size in DIMENSIONS


def steps_of(timeline: Timeline, cycle: int) -> list[int]:
    """The interval of opening, then those of the steps."""
    return [
        number
        for number, interval in enumerate(timeline.intervals)
        if interval.cycle == cycle and interval.kind in ("open", "step")
    ]


def held(spans: list[Span], numbers: list[int]) -> list[int]:
    """Bytes of these spans that are alive at the end of each interval."""
    return [
        sum(span.bytes for span in spans if span.born <= number < span.died) for number in numbers
    ]


def cycles_of(part: Part) -> Iterator[tuple[list[int], list[Span]]]:
    for cycle in range(1, CYCLES + 1):
        numbers = steps_of(part.timeline, cycle)
        born = range(numbers[0], numbers[-1] + 1)
        yield numbers, [s for s in part.timeline.spans if s.born in born]


def in_bytes(holding: Holding, handles: tuple[int, int]) -> int:
    storage, view = handles
    return holding.buffer_bytes + holding.storages * storage + holding.views * view


@pytest.mark.parametrize("model", ["identity", "delay"])
@in_rounds
@times(25)
@given(st.data())
def test_live_bytes_are_those_of_the_model(
    model: str, handles: tuple[int, int], data: st.DataObject
) -> None:
    """To the byte, but for the dimensions of arrays (DIMENSIONS), born where arrays are made.

    numpy takes the dimensions of a new array from a list, if that holds any, and puts those of a
    dead one there. The arrays of frames that the harness makes use the same list: so a backend's
    array may have a block that was born with a frame, as often as frames die before arrays are
    made, and a block that was born with a backend's array may be a frame's by now. In a trace a
    block is the one's it was born with; which array has it now, no record says.
    `Timeline.live_by_owner` balances only what was in the list when the run began. Everything else
    of those sizes is counted, as is all that is born elsewhere.
    """
    options, drawn = data.draw(modes()), data.draw(batches(FORMATS[model]))
    natural, nireq = FORMATS[model][0], options.get("nireq", 1)
    parts = measure(
        model, [primer(FORMATS[model]), *drawn], Contract(), cycles=CYCLES, options=options
    )
    assert len(parts) == 1 + len(drawn)
    for workload, part in zip(drawn, parts[1:], strict=True):
        predicted = expected(
            workload, mode=options["mode"], nireq=nireq, model=model, default_format=natural
        )
        try:
            require(part, predicted, handles, in_thread=options["mode"] == "async")
        except AssertionError as error:
            raise AssertionError(
                f"{model}, {options}: {workload}: {error}\n  replay: {part.report.replay}\n"
                f"  report: {save(part.report, f'memory-{model}')}"
            ) from None
    ran[TRACED] += len(drawn)


def require(
    part: Part, predicted: list[Holding], handles: tuple[int, int], *, in_thread: bool
) -> None:
    """Raises AssertionError where something else is held than was predicted."""
    wanted = [in_bytes(holding, handles) for holding in predicted]
    note = THREAD_NOTE if in_thread else 0
    for numbers, spans in cycles_of(part):
        backends = [span for span in spans if span.site.owner == "backend"]
        found = held([span for span in backends if is_own(span)], numbers)
        excess = [one - other for one, other in zip(found, wanted, strict=True)]
        assert excess == [0] + [note] * (len(wanted) - 1), (
            f"bytes held beyond the model after opening and after each step: {excess}"
        )
        others = sorted(
            span.size
            for span in backends
            for _ in range(span.count)
            if span.born > numbers[0] and not is_own(span) and not is_dimensions(span)
        )
        once = ([note], [note, note, PER_THREAD]) if in_thread else ([],)
        assert others in once, f"blocks of {others} bytes besides"


def test_a_request_more_than_predicted_is_seen(handles: tuple[int, int]) -> None:
    stream = Workload.parse("16x16@100*8")
    options = {"mode": "async", "nireq": 3}
    parts = measure(
        "identity", [primer(("rgb24",)), stream], Contract(), cycles=CYCLES, options=options
    )
    three, two = (
        expected(stream, mode="async", nireq=nireq, model="identity", default_format="rgb24")
        for nireq in (3, 2)
    )
    require(parts[1], three, handles, in_thread=True)
    with pytest.raises(AssertionError, match="bytes held beyond the model"):
        require(parts[1], two, handles, in_thread=True)
