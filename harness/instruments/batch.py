"""The batch instrument: several workloads in one traced process, each with all its cycles.

Most of what a short run takes is the same whatever it measures: a tracer that starts and stops, a
collection of all that was imported, free lists that are filled. Here it is paid once.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from typing import Any

import msgspec

from harness import limits
from harness.driver import Driver
from harness.instruments.rehearsal import rehearse
from harness.instruments.setting import Setting
from harness.plan import plan_steps
from harness.probes import free_lists, garbage, resources, trace
from harness.probes.shared_memory import Segments
from harness.source import synthetic_source
from harness.spec import TRACE, part_folder, write_outcome
from harness.workload import Workload


def run(setting: Setting) -> None:
    """Trace all parts into TRACE; each leaves its outcome in its folder as soon as it is done."""
    segments = Segments()
    segments.watch_python()

    def mark() -> None:
        segments.look()
        trace.mark()

    parts = [_part(setting, number, text) for number, text in enumerate(setting.spec.parts)]
    rehearse(setting, mark)
    resources.snapshot(segments)
    drivers = [part.driver(mark) for part in parts]
    gc.collect()
    gc.freeze()
    gc.disable()
    emptied = free_lists.empty()
    with trace.tracker(setting.folder / TRACE):
        free_lists.fill()
        output = trace.Output(setting.folder / TRACE)
        try:
            for part, driver in zip(parts, drivers, strict=True):
                _trace(part, driver, mark, segments)
                output.check()
                write_outcome(part.folder, part.outcome)
        finally:
            limits.lift()
    del emptied


def _part(setting: Setting, number: int, text: str) -> Setting:
    """The setting of one part, as the workload alone would have it, in a folder of its own."""
    workload = Workload.parse(text)
    default_format = setting.outcome.default_format
    folder = part_folder(setting.folder, number)
    folder.mkdir()
    return dataclasses.replace(
        setting,
        folder=folder,
        outcome=msgspec.structs.replace(setting.outcome, workload=text, ended=True),
        source=synthetic_source(workload, default_format, setting.spec.seed),
        steps=plan_steps(workload, warmup=0, default_format=default_format),
    )


def _trace(part: Setting, driver: Driver, mark: Callable[[], None], segments: Segments) -> None:
    """All cycles of a part, as harness.instruments.tracing has them."""
    outcome = part.outcome
    ends: list[dict[str, Any]] = []
    outcome.baseline = resources.snapshot(segments)
    part.recorder.frames(len(part.source))
    mark()
    for number in range(1, part.spec.cycles + 1):
        driver.run_cycle(number)
        ends.append(resources.snapshot(segments))
        if number == 1 < part.spec.cycles:
            garbage.collect(outcome.target_root)
    outcome.garbage = garbage.collect(outcome.target_root)
    trace.mark()
    outcome.nireq = driver.nireq
    outcome.threads = driver.threads
    outcome.cycle_ends = tuple(ends)
