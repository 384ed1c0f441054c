"""One instance from open to close, fed frames that may fail: what each call gives is logged.

Unlike harness.driver, nothing that a backend raises ends it, but for opening.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from backend.protocol import Backend
from harness.awaiting import await_results
from harness.instruments.setting import Setting
from harness.quiescence import wait_quiescent
from harness.result import StackFrame
from harness.result_log import Event, ResultLog
from harness.source import FrameSource

SHORT_GRACE_S = 0.02
"""How long a result may stay away from a quiescent backend before it counts as held back. Short:
what comes later is still taken in order, only with a later step, and each bad frame that nothing
comes of is waited for as long."""
_MOST_EXCEPTIONS = 8
"""in a row, from a get_result that may raise the same for ever"""


def nothing() -> None:
    """Called where nobody wants to know."""


class Feeding:
    """Feeds bursts of frames, by their numbers, and takes in what comes of each."""

    most_exceptions = _MOST_EXCEPTIONS

    def __init__(
        self,
        setting: Setting,
        log: ResultLog,
        frames: FrameSource,
        mark: Callable[[], None] = nothing,
        ended_round: Callable[[], None] = nothing,
        settle: Callable[[], None] = nothing,
        grace_s: float = SHORT_GRACE_S,
    ) -> None:
        """`mark` is called at each burst's end; at the end of a round there are also `settle`, a
        second mark, and `ended_round`. `grace_s` is waited for a result that does not come."""
        self._setting = setting
        self._log = log
        self._frames = frames
        self._mark_trace = mark
        self._ended_round = ended_round
        self._settle = settle
        self._grace_s = grace_s
        self._last = -1
        self._accepted = self._lag = 0
        self.returned = 0
        """results and exceptions that get_result gave"""
        self.slowest_s = 0.0
        """the longest that one stayed away from a backend that was at rest"""

    def run(
        self, bursts: Iterable[tuple[Sequence[int], bool]], *, close_twice: bool = False
    ) -> None:
        """Feed the bursts; whether a round ends is told with each. Close once, or twice."""
        recorder = self._setting.recorder
        recorder.phase("open")
        backend = self._setting.open_backend()
        self._mark()
        for burst, ends_round in bursts:
            recorder.phase("execute")
            for number in burst:
                self._submit(backend, number)
            recorder.phase("get_result")
            self._collect(backend)
            self._mark()
            if ends_round:
                self._settle()
                self._mark()
                self._ended_round()
        self._finish("flush", backend.flush, Event.FLUSH_ERROR)
        self._take_in(backend)
        self._mark()
        closed = self._finish("close", backend.close, Event.CLOSE_ERROR)
        if closed and close_twice:
            self._finish("second close", backend.close, Event.SECOND_CLOSE_ERROR)
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

    def _finish(self, phase: str, method: Callable[[], None], event: Event) -> bool:
        self._setting.recorder.phase(phase)
        try:
            method()
        except Exception as error:
            self._log.raised(event, error, self._last)
            self._setting.outcome.raised_at[phase] = _stack_of(error)
            return False
        return True

    def _collect(self, backend: Backend) -> None:
        """Take in what is due, and learn how much the backend holds back, as the driver does."""
        self._take_in(backend)
        slowest_s = await_results(
            lambda: self._held,
            lambda: self._lag,
            lambda: self._take_in(backend),
            self._grace_s,
        )
        self.slowest_s = max(self.slowest_s, slowest_s)
        # Nothing has come yet: as in the driver, one that holds back all until flush costs little.
        self._lag = max(self._lag, self._held if self.returned else 2 * self._held)

    @property
    def _held(self) -> int:
        return self._accepted - self.returned

    def _take_in(self, backend: Backend) -> None:
        self._rest()
        exceptions = 0
        while exceptions < self.most_exceptions:
            try:
                result = backend.get_result()
            except Exception as error:
                self._log.raised(Event.ERROR, error, self._last)
                self.returned += 1
                exceptions += 1
                continue
            if result is None:
                return
            self._log.result(result, self._last)
            del result
            self.returned += 1

    def _mark(self) -> None:
        self._rest()
        self._mark_trace()

    def _rest(self) -> None:
        wait_quiescent(self._setting.spec.patience_s)


def _stack_of(error: Exception) -> tuple[StackFrame, ...]:
    """Where it was raised, below the call that was made here: innermost frame first."""
    traceback = error.__traceback__
    stack: list[StackFrame] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        stack.append((code.co_name, code.co_filename, traceback.tb_lineno))
        traceback = traceback.tb_next
    return tuple(reversed(stack[1:]))
