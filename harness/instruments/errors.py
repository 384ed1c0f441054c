"""The errors instrument: bad frames between good ones, and what each call makes of them.

Four passes through an instance each: two with the good frames alone, to know what their results
are; one at native speed, with a sample of cheap numbers after each round of errors; and the last
one traced. The collector runs at the end of each round only, so that what errors leave to it is
told from what they leak.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence

from backend.protocol import Backend
from harness import bad_frames
from harness.bad_frames import Planned
from harness.flight import map_file
from harness.instruments.setting import Setting
from harness.probes import free_lists, trace
from harness.probes.heap import FIELDS, Sampler
from harness.quiescence import wait_quiescent
from harness.result_log import Event, ResultLog
from harness.source import FrameSource
from harness.spec import RESULTS, SAMPLES, TRACE

PASSES = ("control", "second control", "screened", "traced")
"""groups of rows in RESULTS, and cycles for the flight recorder, from 1"""
_GRACE_S = 0.02
"""How long a result may stay away from a quiescent backend before it counts as held back. Short:
what comes later is still taken in order, only with a later step."""
_SLICE_S = 0.002
_MOST_EXCEPTIONS = 8
"""in a row, from a get_result that may raise the same for ever"""
_ROOM = 4 * len(bad_frames.schedule())


def run(setting: Setting) -> None:
    """Write rows to RESULTS, a TRACE, and samples to SAMPLES.

    The first sample, which is the sampler's own first use, is taken before the screened pass; the
    others at the end of each round.
    """
    frames = bad_frames.source(setting.source.frame(0), setting.spec.seed)
    log = ResultLog(setting.folder / RESULTS, len(PASSES), _ROOM)
    memory = map_file(setting.folder / SAMPLES, 8 * len(FIELDS) * (1 + bad_frames.ROUNDS))
    sample = Sampler(memoryview(memory).cast("q"))
    setting.recorder.frames(len(frames))
    gc.freeze()  # what was imported is no garbage, and would make each collection slow
    bursts = bad_frames.bursts()
    good = [([frame for frame in burst if not frame.bad], ends) for burst, ends in bursts]
    _pass(setting, log, frames, 1).run(good)
    _pass(setting, log, frames, 2).run(good)
    gc.collect()
    gc.disable()
    sample()
    _pass(setting, log, frames, 3, ended_round=sample).run(bursts)
    gc.collect()
    emptied = free_lists.empty()
    with trace.tracker(setting.folder / TRACE):
        free_lists.fill()
        trace.mark()
        _pass(setting, log, frames, 4, mark=trace.mark).run(bursts)
    del emptied


def _settle() -> None:
    """Free garbage, and what the interpreter keeps for itself: names that were looked up."""
    gc.collect()
    sys._clear_type_cache()


def _nothing() -> None:
    pass


def _pass(
    setting: Setting,
    log: ResultLog,
    frames: FrameSource,
    number: int,
    mark: Callable[[], None] = _nothing,
    ended_round: Callable[[], None] = _nothing,
) -> _Pass:
    log.begin(number - 1)
    setting.recorder.cycle(number)
    return _Pass(setting, log, frames, mark, ended_round)


class _Pass:
    """One instance from open to close."""

    def __init__(
        self,
        setting: Setting,
        log: ResultLog,
        frames: FrameSource,
        mark: Callable[[], None],
        ended_round: Callable[[], None],
    ) -> None:
        self._setting = setting
        self._log = log
        self._frames = frames
        self._mark_trace = mark
        self._ended_round = ended_round
        self._last = -1
        self._accepted = self._returned = self._lag = 0

    def run(self, bursts: Sequence[tuple[list[Planned], bool]]) -> None:
        """Feed the bursts; a round's end is told with each."""
        recorder = self._setting.recorder
        recorder.phase("open")
        backend = self._setting.open_backend()
        self._mark()
        for burst, ends_round in bursts:
            recorder.phase("execute")
            for frame in burst:
                self._submit(backend, frame.number)
            recorder.phase("get_result")
            self._collect(backend)
            self._mark()
            if ends_round:
                _settle()
                self._mark()
                self._ended_round()
        recorder.phase("flush")
        self._finish(backend.flush, Event.FLUSH_ERROR)
        self._rest()
        self._drain(backend)
        self._mark()
        recorder.phase("close")
        self._finish(backend.close, Event.CLOSE_ERROR)
        del backend
        self._mark()

    def _submit(self, backend: Backend, number: int) -> None:
        self._last = number
        self._setting.recorder.frame(number)
        try:
            backend.execute(self._frames.frame(number))
        except Exception as error:
            self._log.raised(Event.REFUSED, error, number)
        else:
            self._accepted += 1

    def _finish(self, method: Callable[[], None], event: Event) -> None:
        try:
            method()
        except Exception as error:
            self._log.raised(event, error, self._last)

    def _collect(self, backend: Backend) -> None:
        """Take in what is due, and learn how much the backend holds back, as the driver does."""
        self._rest()
        self._drain(backend)
        deadline = time.monotonic() + _GRACE_S
        while self._held > self._lag and time.monotonic() < deadline:
            time.sleep(_SLICE_S)
            self._rest()
            self._drain(backend)
        self._lag = max(self._lag, self._held)

    @property
    def _held(self) -> int:
        return self._accepted - self._returned

    def _drain(self, backend: Backend) -> None:
        exceptions = 0
        while exceptions < _MOST_EXCEPTIONS:
            try:
                result = backend.get_result()
            except Exception as error:
                self._log.raised(Event.ERROR, error, self._last)
                self._returned += 1
                exceptions += 1
                continue
            if result is None:
                return
            self._log.result(result, self._last)
            del result
            self._returned += 1

    def _mark(self) -> None:
        self._rest()
        self._mark_trace()

    def _rest(self) -> None:
        wait_quiescent(self._setting.spec.patience_s)
