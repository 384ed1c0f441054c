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

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

from harness import given
from harness.block_session import Asked, Kind, Region, Session
from harness.errors import UsageError
from harness.quiescence import NotQuiescentError

if TYPE_CHECKING:
    from harness.result import Level, Report, StackFrame

Teller: TypeAlias = Callable[[Sequence["Report"]], None]
"""What is done with the reports of the outermost block and of those within it, in order of end."""

WARMUP_CALLS = 8
"""how often `warmup` is called: as many as `verify` takes warm-up frames"""
_PACKAGE = str(Path(__file__).parent)


class ContractError(AssertionError):
    """A block was violated, or could not be measured; the text says what and where."""

    def __init__(self, reports: Sequence[Report]) -> None:
        from harness.report.brief import brief

        self.reports = tuple(reports)
        super().__init__("\n\n".join(brief(report) for report in reports))


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
        given.function("warmup", warmup, "warmup=lambda: backend.step(x)")
        given.function("tell", tell, "tell=print")
        self._kind: Kind = kind
        self._level: Level = level
        self._warmup = warmup
        self._owners = given.owners(owners)
        self._tell = tell or _complain
        self._first: int | None = None
        self._asked: Asked | None = None
        self._over = False

    def __enter__(self) -> None:
        if self._asked is not None:
            raise UsageError(f"a block is entered once: call {self._kind}() for each `with`")
        self._asked = Asked(self._kind, self._level, self._owners, _caller())
        session = Session.join()
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
        if self._over:
            return
        self._over = True
        session = Session.current
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

    def abandon(self) -> str:
        """End it unjudged, as whoever entered it did not; where it stands."""
        assert self._asked is not None
        if not self._over and Session.current is not None:
            self._over = True
            Session.current.leave(None)
        _, file, line = self._asked.at
        return f"{file}:{line}"


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
