"""Cycles of one process, in each of which one operation fails, and what becomes of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.inject.hooks import Caller, WatchedBackend
from harness.inject.judge import TRIES, is_blunder, judge, mark_of, taints, tells
from harness.inject.points import LEFT, Break, Counted, Place, Point, Seen
from harness.inject.samples import REPEATS, Samples
from harness.inject.watch import Watch
from harness.instruments.feeding import Feeding
from harness.instruments.setting import Setting
from harness.quiescence import NotQuiescentError, wait_quiescent
from harness.result_log import RESULTS as RESULT_EVENTS
from harness.result_log import Event, ResultLog, Row, name_and_text, read_log
from harness.spec import RESULTS

_ROWS_PER_FRAME = 4


class _Log(ResultLog):
    """Also notes which exceptions tell what failed: of that, a row keeps the first line alone."""

    def __init__(self, path: Path, room: int) -> None:
        self.telling: set[int] = set()
        super().__init__(path, 1, room)

    def begin(self, group: int) -> None:
        self.telling.clear()
        super().begin(group)

    def raised(self, event: Event, error: BaseException, frame: int) -> None:
        if tells(error):
            self.telling.add(self._count)
        super().raised(event, error, frame)


class _Feeding(Feeding):
    """Calls flush and close again if they raise; from the second close on nothing fails."""

    over: Callable[[], None]

    def _finish(self, phase: str, method: Callable[[], None], event: Event) -> bool:
        self._setting.recorder.phase(phase)
        for _ in range(TRIES):
            try:
                method()
            except Exception as error:
                self._log.raised(event, error, self._last)
            else:
                return True
            if event == Event.CLOSE_ERROR:
                self.over()
        return False


class Cycles:
    """Makes cycles in this process, one after the other."""

    def __init__(self, setting: Setting) -> None:
        frames = len(setting.source)
        self.watch = Watch(self._place)
        self._spec = setting.spec
        self._stateful = setting.outcome.stateful
        self._frames = frames
        self._recorder = setting.recorder
        self._path = setting.folder / RESULTS
        self._log = _Log(self._path, _ROWS_PER_FRAME * frames + 4 * TRIES)
        caller = Caller(self.watch)
        self._setting = replace(
            setting, open_backend=lambda: WatchedBackend(setting.open_backend, caller)
        )
        self._bursts = [(range(step.first, step.last + 1), False) for step in setting.steps]
        self._feeding: Feeding | None = None
        self._number = 0
        self._recorder.frames(frames)
        self._samples = Samples()

    def _place(self) -> Place:
        at = self._recorder.read()
        return Place(at.phase, at.frame, self._feeding.returned if self._feeding else 0)

    def count(self) -> Counted:
        """A cycle without a failure. Raises if even that is not served."""
        samples = self._samples
        samples.begin()
        self._take()
        rows = self._cycle(None, record=True)
        if raised := next((row for row in rows if row.event not in RESULT_EVENTS), None):
            raise RuntimeError(f"without any failure, a call raised {raised.text}")
        due = tuple(map(mark_of, rows))
        operations = self.watch.operations()
        self.watch.begin(None)
        self._take()
        return Counted(operations, due, tuple(map(samples.added, LEFT)))

    def run(self, point: Point | None) -> list[Row]:
        """One cycle."""
        return self._cycle(point)

    def examine(self, point: Point) -> Seen:
        """Have a point fail; if anything is left, again and again: first use does not repeat."""
        failing = self._spec.failing
        assert failing is not None
        samples = self._samples
        samples.begin()
        self._take()
        reached, breaks = self._attempt(point)
        if breaks or not reached:
            return Seen(reached, breaks)
        self._take()
        if failing.first_use:
            return Seen(True, tuple(samples.beyond(dict(zip(LEFT, failing.left, strict=True)))))
        while samples.taken < REPEATS + 2 and samples.rising():
            _, breaks = self._attempt(point)
            if breaks:
                return Seen(True, taints(breaks, "when it fails again"))
            self._take()
        return Seen(True, tuple(samples.leaks()))

    def _attempt(self, point: Point) -> tuple[bool, tuple[Break, ...]]:
        """Whether the point was reached, and what was broken then. Nothing of it is kept."""
        try:
            try:
                rows = self._cycle(point)
            except NotQuiescentError as error:
                return True, (Break("busy", str(error)),)
            except BaseException as error:
                return self.watch.fired is not None, self._broke_off(error)
            return self.watch.fired is not None, self._judged(point, rows)
        finally:
            self.watch.begin(None)

    def _judged(self, point: Point, rows: list[Row]) -> tuple[Break, ...]:
        failing, fired = self._spec.failing, self.watch.fired
        assert failing is not None
        if fired is None:
            return ()
        return judge(
            failing.due,
            self._frames,
            rows,
            self._log.telling,
            fired,
            lasting=point.lasting,
            stateful=self._stateful,
        )

    def _broke_off(self, error: BaseException) -> tuple[Break, ...]:
        """An exception that ended the cycle: opening may raise one, of a kind that tells."""
        at = self._recorder.read()
        raised = name_and_text(error)
        if at.phase == "open" and isinstance(error, Exception):
            if tells(error) or not is_blunder(raised):
                return ()
            return (Break("wrong-exception", f"opening raised {raised}"),)
        return (Break("wrong-exception", f"{at.phase} raised {raised}", at.frame),)

    def _cycle(self, point: Point | None, *, record: bool = False) -> list[Row]:
        self._number += 1
        self._recorder.cycle(self._number)
        self._log.begin(0)
        feeding = _Feeding(self._setting, self._log, self._setting.source)
        feeding.most_exceptions = self._frames + TRIES
        feeding.over = self.watch.end
        self._feeding = feeding
        self.watch.begin(point, record=record)
        try:
            feeding.run(self._bursts)
        finally:
            self.watch.end()
            self._feeding = None
        return read_log(self._path)[0].rows

    def _take(self) -> None:
        """A sample, when nothing of the last cycle is referred to any more."""
        wait_quiescent(self._spec.patience_s)
        self._samples.take()
