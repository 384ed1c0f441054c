"""Exact counts in a marked region of this very process, for code that is no pipeline of frames.

    from harness import block

    with block.no_allocations(warmup=lambda: backend.step(x)):
        backend.step(x)

    with block.released():
        session = open_session()
        session.close()
        del session

`no_allocations` fails if, within it, anybody whom the level counts asks malloc for memory;
`released` if memory that was asked for within it is still there at its end. All threads are
counted. A failure names the lines, as `verify` does, whose trace and owners these are.

memray, which sees every malloc, has one tracker at a time for a process: blocks that lie within
another share its. A trace can't be read before it ends, so that all are judged when the outermost
one ends, and a block whose body raises isn't judged. Python's own small objects (up to 512 bytes)
come from arenas of the interpreter's, and are not counted, nor is what a first use leaves: have
`warmup` do the same before.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from harness.errors import UsageError
from harness.probes import trace
from harness.quiescence import NotQuiescentError, wait_quiescent

if TYPE_CHECKING:
    import memray

    from harness.result import Level, Report, StackFrame

Kind = Literal["no_allocations", "released"]
Teller = Callable[[Sequence["Report"]], None]
"""What is done with the reports of the outermost block and of those within it, in order of end."""

WARMUP_CALLS = 8
"""how often `warmup` is called: as many as `verify` takes warm-up frames"""
_PATIENCE_S = 10.0
_PACKAGE = str(Path(__file__).parent)


class ContractError(AssertionError):
    """A block was violated, or could not be measured; the text says what and where."""

    def __init__(self, reports: Sequence[Report]) -> None:
        from harness.report.brief import brief

        self.reports = tuple(reports)
        super().__init__("\n\n".join(brief(report) for report in reports))


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


def no_allocations(
    *,
    level: Level = "zero-owned",
    warmup: Callable[[], object] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    tell: Teller | None = None,
) -> Block:
    """A block in which the code under test allocates nothing; at `zero-malloc`, nobody does.

    `warmup` is called before, WARMUP_CALLS times, and not counted. `owners` are entries (owner,
    glob) before the defaults, as `--owner` of the command line. Raises ContractError at its end, or
    calls `tell` with the reports instead; UsageError where nothing can be measured.
    """
    if level not in ("zero-owned", "zero-malloc"):
        raise UsageError(f"no_allocations has the levels zero-owned and zero-malloc, not {level!r}")
    return Block("no_allocations", level, warmup, owners, tell)


def released(
    *,
    warmup: Callable[[], object] | None = None,
    owners: Sequence[tuple[str, str]] = (),
    tell: Teller | None = None,
) -> Block:
    """A block at whose end nothing is left of what was allocated in it, without a collection.

    Arguments and errors are those of `no_allocations`.
    """
    return Block("released", "zero-growth", warmup, owners, tell)


class Block:
    """One block: a context to be entered once."""

    def __init__(
        self,
        kind: Kind,
        level: Level,
        warmup: Callable[[], object] | None,
        owners: Sequence[tuple[str, str]],
        tell: Teller | None,
    ) -> None:
        self._kind: Kind = kind
        self._level: Level = level
        self._warmup = warmup
        self._owners = tuple(owners)
        self._tell = tell or _complain
        self._first: int | None = None
        self._asked: Asked | None = None

    def __enter__(self) -> None:
        if self._asked is not None:
            raise UsageError(f"a block is entered once: call {self._kind}() for each `with`")
        self._asked = Asked(self._kind, self._level, self._owners, _caller())
        session = _Session.join()
        try:
            for _ in range(WARMUP_CALLS if self._warmup else 0):
                self._warmup()  # type: ignore[misc]
            try:
                self._first = session.mark()
            except NotQuiescentError as error:
                raise UsageError(f"{error}: a block can't begin exactly; stop them first") from None
        except BaseException:
            session.leave(None)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        session = _Session.current
        assert session is not None
        assert self._asked is not None
        assert self._first is not None
        region = None
        try:
            if error is None:
                region = Region(self._asked, self._first, self._first)
                try:
                    region.end = session.mark()
                except NotQuiescentError as busy:
                    region.busy = str(busy)
        finally:
            reports = session.leave(region)
        if reports and error is None:
            self._tell(reports)


def _complain(reports: Sequence[Report]) -> None:
    __tracebackhide__ = True
    if failed := [report for report in reports if report.verdict != "pass"]:
        raise ContractError(failed)


def _caller() -> StackFrame:
    """The innermost line that is not the harness's."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno


class _Session:
    """The one tracker, from the outermost block's beginning to its end."""

    current: _Session | None = None

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
    def join(cls) -> _Session:
        """The session of the block that this one lies in, or a new one."""
        session = cls.current
        if session is None:
            session = cls()
            cls.current = session
            trace.mark()  # what came before the first block
            session._marks = 1
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
            _Session.current = None
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
