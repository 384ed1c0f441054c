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
from harness.batch import Part, measure
from harness.contract import Contract
from harness.probes import trace
from harness.timeline import Span, Timeline
from harness.workload import Workload
from tests.properties.drawing import FORMATS, batches, modes
from tests.properties.model import Holding, expected
from tests.properties.rounds import TRACED, in_rounds, ran, times
from tests.properties.telling import save

CYCLES = 2
BLOCKS = "buffer.py"
HANDED_ON = frozenset({1, 16, 32, 48})
"""Blocks of numpy's free lists, of no data and of the dimensions of up to three: they pass from
hand to hand, so that whose line one was born at says nothing."""
THREAD_NOTE = 32
"""bytes of glibc's note that torch's thread-local state has a destructor, made with the first
block that a thread asks torch for: in async mode there is a new thread in each cycle"""
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
    return span.site.function == "shape_as" and span.size not in HANDED_ON


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
        wanted = [in_bytes(holding, handles) for holding in predicted]
        for numbers, spans in cycles_of(part):
            backends = [span for span in spans if span.site.owner == "backend"]
            own = [span for span in backends if is_own(span)]
            note = THREAD_NOTE if options["mode"] == "async" else 0
            found = held(own, numbers)
            excess = [one - other for one, other in zip(found, wanted, strict=True)]
            assert excess == [0] + [note] * (len(wanted) - 1), (
                f"{model}, {options}: {workload}: bytes held beyond the model after opening and "
                f"after each step: {excess}\n  replay: {part.report.replay}\n"
                f"  report: {save(part.report, f'memory-{model}')}"
            )
            others = [
                span.size
                for span in backends
                if span.born > numbers[0] and not is_own(span) and span.size not in HANDED_ON
            ]
            allowed = ([], [PER_THREAD]) if options["mode"] == "async" else ([],)
            assert others in allowed, f"{others} bytes besides; replay: {part.report.replay}"
    ran[TRACED] += len(drawn)
