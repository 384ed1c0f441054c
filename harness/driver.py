"""Feeds a workload to a backend, step by step, and marks the trace at each step's end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from backend.frame import Frame
from backend.protocol import Backend
from harness.awaiting import await_results
from harness.flight import FlightRecorder
from harness.pace import Pace
from harness.quiescence import wait_quiescent

GRACE_S = 1.0
"""How long results that are due may stay away from a quiescent backend before they count as held
back by design. It is paid while the lag is being learned, in the first cycle, and not on the steps
after. Long, for who waits for another process or a device is asleep, and slow models are."""
_CONVINCED = 2
"""After so many waits in which nothing came at all, the others may be shorter."""
_SHORTER_GRACE_S = 0.2


class StepFrames(Protocol):
    """The part of a planned step that matters here: its first and last frame."""

    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...


class Source(Protocol):
    """Makes the frames."""

    def frame(self, index: int) -> Frame: ...


class Driver:
    """Drives one backend at a time through the same steps.

    The trace of a cycle is: open, one interval per step, flush, close; a mark ends each. `journal`,
    made beforehand, takes one number per step and cycle: the frames submitted and not yet returned
    at the step's end. `take` is called with each result, in order; results are dropped otherwise.
    `pace` says when a step may begin.
    """

    def __init__(
        self,
        open_backend: Callable[[], Backend],
        source: Source,
        steps: Sequence[StepFrames],
        recorder: FlightRecorder,
        mark: Callable[[], None],
        journal: memoryview | list[int],
        patience_s: float,
        take: Callable[[Any], None] | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._open = open_backend
        self._source = source
        self._steps = steps
        self._recorder = recorder
        self._mark_trace = mark
        self._journal = journal
        self._patience_s = patience_s
        self._take = take or _drop
        self._pace = pace or Pace()
        self._finished_steps = 0
        self.nireq: int | None = None
        self.threads = 0
        """of Python's, the most that there were at the end of a step"""
        self.has_map = False
        """whether the backend that was opened last has a `memory_map`"""
        self._submitted = self._returned = self._lag = 0
        self._fruitless = 0
        recorder.frames(steps[-1].last + 1)

    def run_cycle(self, number: int) -> None:
        """Open a backend, feed it the workload, flush, close and drop it."""
        recorder, backend = self._recorder, self._opened(number)
        self._pace.begin()
        for position, step in enumerate(self._steps):
            self._run_step(backend, position, step)
        self._finish(backend)
        self._mark()
        recorder.phase("close")
        backend.close()
        del backend
        self._mark()

    def run_early_close(self, number: int) -> None:
        """Open a backend, submit a burst of frames, close it at once and drop it.

        As many as it has requests, or as the workload's largest burst has, if that is more. Cycle 1
        collects its results first, so that first use is over whatever the scheduler does. The trace
        of such a cycle is: open, close.
        """
        recorder, backend = self._recorder, self._opened(number)
        recorder.phase("execute")
        for index in range(self._burst(self.nireq or 1)):
            recorder.frame(index)
            backend.execute(self._source.frame(index))
        if number == 1:
            self._finish(backend)
        recorder.phase("close")
        backend.close()
        del backend
        self._mark()

    def _opened(self, number: int) -> Backend:
        recorder = self._recorder
        self._submitted = self._returned = self._lag = 0
        recorder.cycle(number)
        recorder.phase("open")
        backend = self._open()
        self.nireq = _nireq(backend)
        self.has_map = callable(getattr(backend, "memory_map", None))
        self._mark()
        return backend

    def _finish(self, backend: Backend) -> None:
        self._recorder.phase("flush")
        backend.flush()
        self._take_in(backend)

    def _burst(self, least: int) -> int:
        """Frames of the largest step, or so many at the least, as far as there are."""
        steps = self._steps
        return min(steps[-1].last + 1, max(least, *(s.last - s.first + 1 for s in steps)))

    def _run_step(self, backend: Backend, position: int, step: StepFrames) -> None:
        recorder, source = self._recorder, self._source
        recorder.phase("execute")
        self._pace.wait(position)
        for index in range(step.first, step.last + 1):
            recorder.frame(index)
            backend.execute(source.frame(index))
            self._submitted += 1
        recorder.phase("get_result")
        self._collect(backend, position)
        self._pace.done(position, step.last - step.first + 1)
        self.threads = max(self.threads, len(sys._current_frames()))
        self._journal[self._finished_steps] = self._held
        self._finished_steps += 1
        self._mark()

    def _collect(self, backend: Backend, position: int) -> None:
        """Take in all results that are due, learning how many frames the backend holds back.

        Results are asked for only at quiescent moments, so that the number of calls, and with it
        what they may allocate, does not depend on the scheduler. In a later cycle as many are due
        as came in the first one.
        """
        self._take_in(backend)
        if self._held > self._allowed(position):
            self._learn_lag(backend, position)

    def _allowed(self, position: int) -> int:
        """How many frames may be held back at the end of this step."""
        is_first_cycle = self._finished_steps < len(self._steps)
        return self._lag if is_first_cycle else self._journal[position]

    def _learn_lag(self, backend: Backend, position: int) -> None:
        """Wait until nothing more comes; what is then still missing is held back by design."""
        slowest_s = await_results(
            lambda: self._held,
            lambda: self._allowed(position),
            lambda: self._take_in(backend),
            GRACE_S if self._fruitless < _CONVINCED else _SHORTER_GRACE_S,
        )
        self._fruitless += not slowest_s
        # Nothing at all has come yet: expect it after twice as many, so that a backend that holds
        # back all until flush costs few waits. The first result of all has the lag learned anew.
        self._lag = max(self._lag, self._held if self._returned else 2 * self._held)

    @property
    def _held(self) -> int:
        return self._submitted - self._returned

    def _take_in(self, backend: Backend) -> None:
        self._rest()
        while (result := backend.get_result()) is not None:
            self._take(result)
            del result  # a pooled result is free again once nobody holds it
            if not self._returned:
                self._lag = 0
            self._returned += 1

    def _mark(self) -> None:
        self._rest()
        self._mark_trace()

    def _rest(self) -> None:
        wait_quiescent(self._patience_s)


def _drop(result: Any) -> None:
    pass


def _nireq(backend: Any) -> int | None:
    value = getattr(backend, "nireq", None)
    return value if isinstance(value, int) else None
