"""The reference instrument: what each frame's result should be, from instances with no past.

For each frame a fresh instance is opened and given that frame alone: no buffer that an earlier
frame has left can show in its result. Frames with equal pixels are computed once. A backend that
keeps state between frames by design is compared with a second instance instead, which is given the
frames one by one, each when the one before is done.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from harness.capture import capture
from harness.flight import map_file
from harness.instruments.setting import Setting
from harness.plan import PlannedStep
from harness.quiescence import wait_quiescent
from harness.result_log import Event, ResultLog
from harness.source import FrameSource
from harness.spec import REPRESENTATIVES, RESULTS

PER_FRAME = 2
"""rows that there is room for, per frame"""
SLOWEST = 3
"""A backend that waits rather than works is given this many times its budget in elapsed time."""
UNKNOWN = -1


def run(setting: Setting) -> None:
    """Write rows to RESULTS, and to REPRESENTATIVES whose rows each frame is to be held against.

    Fresh: rows bear the number of the frame that they are of; REPRESENTATIVES has the number of the
    frame with equal pixels that was computed, or UNKNOWN. Serial: the rows are in the order of the
    results, and a frame is its own representative, if it was submitted.
    """
    length = len(setting.source)
    log = ResultLog(setting.folder / RESULTS, 1, PER_FRAME * length)
    log.begin(0)
    capture(log, setting.spec.capture, setting.folder)
    memory = map_file(setting.folder / REPRESENTATIVES, 8 * length)
    representatives = memoryview(memory).cast("q")
    for frame in range(length):
        representatives[frame] = UNKNOWN
    setting.recorder.cycle(1)
    setting.recorder.frames(length)
    budget = _Budget(setting.spec.budget_s)
    if setting.outcome.stateful:
        _serial(setting, log, representatives, budget)
    else:
        _fresh(setting, log, representatives, budget)


class _Budget:
    """Processor time, so that other work on the machine changes nothing; elapsed time as well."""

    def __init__(self, seconds: float) -> None:
        self._processor = time.process_time() + seconds
        self._elapsed = time.monotonic() + SLOWEST * seconds

    @property
    def spent(self) -> bool:
        return time.process_time() > self._processor or time.monotonic() > self._elapsed


def _fresh(setting: Setting, log: ResultLog, representatives: memoryview, budget: _Budget) -> None:
    same = _equal_frames(setting.source)
    order = setting.spec.frames or in_order_of_interest(_geometries(setting.source))
    done: set[int] = set()
    gc.freeze()  # collecting is quick if what was imported is left out
    for frame in order:
        first = same[frame]
        if first not in done:
            if done and budget.spent:
                break
            # The garbage of hundreds of instances would else pile up until the run's end.
            gc.collect()
            _alone(setting, log, first)
            done.add(first)
            representatives[first] = first  # at once: a crash must not take it along
    for frame, first in enumerate(same):
        if first in done:
            representatives[frame] = first


def _alone(setting: Setting, log: ResultLog, frame: int) -> None:
    """One frame through an instance of its own."""
    recorder, results = setting.recorder, 0
    recorder.phase("open")
    backend = setting.open_backend()
    recorder.phase("execute")
    recorder.frame(frame)
    try:
        backend.execute(setting.source.frame(frame))
        recorder.phase("flush")
        backend.flush()
        wait_quiescent(setting.spec.patience_s)
        recorder.phase("get_result")
        while (result := backend.get_result()) is not None:
            log.result(result, frame)
            del result
            results += 1
        if not results:
            log.none(frame)
    except Exception as error:
        log.raised(Event.ERROR, error, frame)
    recorder.phase("close")
    backend.close()


class _BudgetSpentError(Exception):
    """Ends a serial run before its last frame."""


def _serial(setting: Setting, log: ResultLog, representatives: memoryview, budget: _Budget) -> None:
    steps = [PlannedStep(n, n, n, 0, 0, "steady") for n in range(len(setting.source))]
    submitted = 0

    def mark() -> None:
        nonlocal submitted
        submitted += 1
        if budget.spent:
            raise _BudgetSpentError

    driver = setting.driver_of(steps, mark, log.result)
    with contextlib.suppress(_BudgetSpentError):
        driver.run_cycle(1)
    # The first mark ends the opening.
    for frame in range(min(submitted - 1, len(steps))):
        representatives[frame] = frame


def _equal_frames(source: FrameSource) -> list[int]:
    """For each frame the first one with the same pixels and format."""
    first: dict[Any, int] = {}
    same = []
    for number in range(len(source)):
        frame = source.frame(number)
        pixels = hashlib.blake2b(np.ascontiguousarray(frame.data).data, digest_size=16).digest()
        same.append(first.setdefault((frame.format, frame.data.shape, pixels), number))
    return same


def _geometries(source: FrameSource) -> list[Any]:
    """Shape and format of each frame."""
    frames = (source.frame(number) for number in range(len(source)))
    return [(frame.format, frame.data.shape) for frame in frames]


def in_order_of_interest(geometries: Sequence[Any]) -> list[int]:
    """Every frame once, those that buffers most likely spoil first.

    That is the first of each geometry, the first after each change, the two that follow a change,
    and the last; then all others, spread ever more finely.
    """
    changes = [
        n for n, geometry in enumerate(geometries) if n == 0 or geometry != geometries[n - 1]
    ]
    seen: set[Any] = set()
    first = [n for n in changes if not (geometries[n] in seen or seen.add(geometries[n]))]  # type: ignore[func-returns-value]
    last = len(geometries) - 1
    following = [n + more for more in (1, 2) for n in changes if n + more <= last]
    return list(dict.fromkeys([*first, *changes, *following, last, *_spread(last + 1)]))


def _spread(length: int) -> Iterator[int]:
    """The numbers below `length`: every 2^k-th for falling k."""
    stride = 1 << max(length - 1, 0).bit_length()
    while stride:
        yield from range(0, length, stride)
        stride //= 2
