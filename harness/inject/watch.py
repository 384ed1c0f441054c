"""Counts the operations of a run as they are reached, and has one of them fail."""

from __future__ import annotations

import hashlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import NamedTuple

from harness.inject.points import Kind, Operation, Place, Point
from harness.result import StackFrame

_HERE = str(Path(__file__).parent)
_HARNESS = str(Path(__file__).parents[1])
_KEY_BYTES = 12


class _Key(NamedTuple):
    text: str
    codes: tuple[CodeType, ...]
    """kept, as their addresses stand for them"""


@dataclass
class _Run:
    """What has been reached in one cycle."""

    point: Point | None
    recording: list[tuple[int, Operation]] | None
    counts: Counter[str]
    threads: dict[int, int]
    """number, in the order of their starts, by identity"""
    started: int = 1
    fired: Place | None = None
    failing: bool = False


class Watch:
    """Knows how often each operation has been reached in this cycle, on whichever thread.

    The caller's thread is watched while it is within a call of the backend's, all others always.
    """

    def __init__(self, place: Callable[[], Place]) -> None:
        self._place = place
        self._caller = threading.get_ident()
        self._within = False
        self._lock = threading.RLock()  # what a dying object does may be an operation too
        self._keys: dict[tuple[object, ...], _Key] = {}
        self._run = _Run(None, None, Counter(), {})
        self.stacks: dict[str, tuple[StackFrame, ...]] = {}
        """of all that has been reached, by key"""

    def begin(self, point: Point | None, *, record: bool = False) -> None:
        """A cycle begins: `point` is to fail in it."""
        recording: list[tuple[int, Operation]] | None = [] if record else None
        self._run = _Run(point, recording, Counter(), {self._caller: 0})

    def end(self) -> None:
        """Nothing fails any more."""
        self._run.failing = False
        self._run.point = None

    @property
    def fired(self) -> Place | None:
        """Where the run was when the point failed; None if it was not reached."""
        return self._run.fired

    def operations(self) -> tuple[Operation, ...]:
        """What was recorded, thread by thread."""
        recorded = self._run.recording or []
        return tuple(operation for _, operation in sorted(recorded, key=lambda each: each[0]))

    @contextmanager
    def within(self) -> Iterator[None]:
        """The caller's thread is within a call of the backend's."""
        self._within = True
        try:
            yield
        finally:
            self._within = False

    def thread_starts(self) -> int:
        """A number for a thread that is started now."""
        with self._lock:
            self._run.started += 1
            return self._run.started - 1

    def thread_begins(self, number: int) -> None:
        """Called on that thread, first of all."""
        with self._lock:
            self._run.threads[threading.get_ident()] = number

    def reached(self, kind: Kind, name: str) -> bool:
        """Whether an operation that is about to be done is to fail instead."""
        identity = threading.get_ident()
        if identity == self._caller and not self._within:
            return False
        frames = list(_frames(sys._getframe(1)))
        # What the harness does within its own call, such as to seed, is not the backend's.
        if not frames or frames[0].f_code.co_filename.startswith(_HARNESS):
            return False
        with self._lock:
            key = self._key(name, frames)
            run = self._run
            run.counts[key] += 1
            occurrence = run.counts[key]
            if run.recording is not None:
                number = run.threads.get(identity, run.started)
                at, thread = self._place(), _name_of(identity)
                operation = Operation(key, occurrence, kind, name, thread, at.phase, at.frame)
                run.recording.append((number, operation))
            point = run.point
            if point is not None and (point.key, point.occurrence) == (key, occurrence):
                run.fired = self._place()
                run.failing = point.lasting
                return True
            return run.failing

    def _key(self, name: str, frames: list[FrameType]) -> str:
        at = (name, *((id(frame.f_code), frame.f_lineno) for frame in frames))
        known = self._keys.get(at)
        if known is None:
            stack = tuple(
                (frame.f_code.co_name, frame.f_code.co_filename, frame.f_lineno) for frame in frames
            )
            digest = hashlib.blake2b(repr((name, stack)).encode(), digest_size=_KEY_BYTES)
            known = _Key(digest.hexdigest(), tuple(frame.f_code for frame in frames))
            self._keys[at] = known
            self.stacks[known.text] = stack
        return known.text


def _name_of(identity: int) -> str:
    """The name of a thread; not by threading.current_thread, which would make an object for one
    that it does not know, and keep it."""
    names = (thread.name for thread in threading.enumerate() if thread.ident == identity)
    return next(names, "a thread")


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """From where an operation was asked for out to where the harness called the backend."""
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    while frame is not None and not frame.f_code.co_filename.startswith(_HERE):
        yield frame
        frame = frame.f_back
