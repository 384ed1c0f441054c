"""The trace that all blocks of a process share, from the outermost one's beginning to its end."""

from __future__ import annotations

import gc
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from harness.errors import UsageError
from harness.probes import trace
from harness.quiescence import wait_quiescent

if TYPE_CHECKING:
    import memray

    from harness.result import Level, Report, StackFrame

Kind: TypeAlias = Literal["no_allocations", "released"]

OUTERMOST = 1
"""the first interval of the outermost block: what came before it has an interval of its own"""
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What a block is held to."""

    kind: Kind
    level: Level
    owners: tuple[tuple[str, str], ...]
    at: StackFrame
    """where it stands"""


@dataclass(slots=True)
class Region:
    """A block that has ended, by the numbers of the intervals of the trace that it spans."""

    asked: Asked
    first: int
    end: int
    """not included"""
    busy: str = ""
    """threads that did not come to rest, so that it has no exact end"""


class Session:
    """The one tracker, from the outermost block's beginning to its end."""

    current: Session | None = None

    def __init__(self) -> None:
        from harness import preconditions

        preconditions.require()
        self._thread = threading.get_ident()
        self._folder = tempfile.TemporaryDirectory(prefix="steadyframe-")
        self._path = Path(self._folder.name) / "trace.bin"
        self._open = 0
        self._marks = 0
        self._ended: list[Region] = []
        self._emptied: object = None
        self._collects = gc.isenabled()
        if sys.getprofile() is not None:
            raise UsageError(
                "a profiler is on in this process, in whose place the tracker would be"
            )
        self._tracking = self._track()
        gc.disable()

    def _track(self) -> _Tracking:
        free_lists: Any = None
        if "numpy" in sys.modules:
            from harness.probes import free_lists

            self._emptied = free_lists.empty()
        tracking = _Tracking(trace.tracker(self._path))
        try:
            tracking.begin()
        except RuntimeError as error:
            self._folder.cleanup()
            if "Tracker" not in str(error):
                raise
            raise UsageError(
                "another memray tracker is on in this process, and there can be but one: "
                "run without it (with pytest-memray, without --memray and limit_memory)"
            ) from None
        if free_lists is not None:
            free_lists.fill()
            free_lists.fill_dimensions()
        return tracking

    @classmethod
    def join(cls) -> Session:
        """The session of the block that this one lies in, or a new one."""
        session = cls.current
        if session is None:
            session = cls()
            cls.current = session
            trace.mark()  # what came before the first block
            session._marks = OUTERMOST
        elif session._thread != threading.get_ident():
            raise UsageError(
                "another thread is within a block, which counts all threads: end that one first"
            )
        session._open += 1
        return session

    def mark(self) -> int:
        """Cut the trace; the number of the interval that begins. Raises NotQuiescentError."""
        wait_quiescent(_PATIENCE_S)
        trace.mark()
        self._marks += 1
        return self._marks - 1

    def leave(self, region: Region | None) -> list[Report]:
        """End a block, judged if there is a region; the reports of all if it was the outermost."""
        if region is not None:
            self._ended.append(region)
        self._open -= 1
        if self._open:
            return []
        try:
            gc.collect()
            trace.mark()
        finally:
            self._tracking.end()
            Session.current = None
            self._emptied = None
            if self._collects:
                gc.enable()
        try:
            if not self._ended:
                return []
            from harness.block_report import judge

            return [judge(self._path, region, self._marks) for region in self._ended]
        finally:
            self._folder.cleanup()


class _Tracking(threading.Thread):
    """Has the tracker on, from a thread of its own.

    memray takes what lies below the call that begins a trace, on the thread of that call, for its
    caller's and hides so many frames of that thread. With a `with` the body lies below it.
    """

    def __init__(self, tracker: memray.Tracker) -> None:
        super().__init__(name="steadyframe tracker", daemon=True)
        self._tracker = tracker
        self._begun, self._ending = threading.Event(), threading.Event()
        self._error: BaseException | None = None

    def begin(self) -> None:
        """Raises what the tracker raises."""
        self.start()
        self._begun.wait()
        if self._error is not None:
            self.join()
            raise self._error

    def end(self) -> None:
        """All is written when this returns."""
        self._ending.set()
        self.join()

    def run(self) -> None:
        try:
            with self._tracker:
                self._begun.set()
                self._ending.wait()
        except BaseException as error:
            self._error = error
            self._begun.set()
