"""The tracing instruments that look at a part of a run: every allocation, or every Python object.

An object that a tuple, list, dict or float leaves behind when it dies is kept by the interpreter in
a free list, and the next one of its kind takes it without asking an allocator. Whoever keeps that
one would go unnoticed, and whoever must then allocate anew would be blamed for it. So in a trace
of objects the free lists are emptied before each line of the backend's.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from harness.instruments.setting import Setting
from harness.instruments.window import drive
from harness.probes import free_lists, trace
from harness.probes.heap import settle
from harness.spec import TRACE

if TYPE_CHECKING:
    import memray

TraceFunction: TypeAlias = "Callable[[FrameType, str, Any], TraceFunction | None]"


def run(setting: Setting) -> None:
    """Trace the window into TRACE: a mark before it and one at the end of each interval."""
    tracker = trace.tracker(setting.folder / TRACE)

    def begin() -> None:
        _enter(tracker)
        free_lists.fill()
        trace.mark()

    def end() -> None:
        tracker.__exit__(None, None, None)

    emptied = free_lists.empty()
    drive(setting, begin, trace.mark, end)
    del emptied


def run_objects(setting: Setting) -> None:
    """The same with Python's objects."""
    tracker = trace.tracker(setting.folder / TRACE, objects=True)
    tracing = threading.Event()
    empty_before_lines = _emptier(setting.outcome.target_root, tracing)

    def begin() -> None:
        _enter(tracker)
        tracing.set()
        sys.settrace(empty_before_lines)
        trace.mark()

    def end() -> None:
        sys.settrace(None)
        tracing.clear()
        tracker.__exit__(None, None, None)

    # Threads that the backend has started before the window begins can't be traced from outside.
    threading.settrace(empty_before_lines)
    drive(setting, begin, trace.mark, end)


def _enter(tracker: memray.Tracker) -> None:
    """Begin to track. memray hides the frames that the thread that calls it was in, for good and
    by their number, so that this one's stacks would lack the frames that come next."""
    thread = threading.Thread(target=tracker.__enter__)
    thread.start()
    thread.join()


def _emptier(root: str, tracing: threading.Event) -> TraceFunction:
    """A trace function that empties free lists before each line of the backend's files.

    It must be a function: any other callable is given its three arguments in a tuple, and that goes
    to the free list just before the line, where the backend's next tuple of three would take it.
    """

    def empty(frame: FrameType, event: str, arg: Any) -> TraceFunction | None:  # noqa: ARG001
        if event == "call" and not frame.f_code.co_filename.startswith(root):
            return None
        if tracing.is_set():
            settle()
        return empty

    return empty
