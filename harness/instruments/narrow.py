"""The tracing instruments that look at a part of a run: every allocation, or every Python object.

An object that a tuple, list, dict or float leaves behind when it dies is kept by the interpreter in
a free list, and the next one of its kind takes it without asking an allocator. Whoever keeps that
one would go unnoticed, and whoever must then allocate anew would be blamed for it. So in a trace
of objects the free lists are emptied before each line of the backend's.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.instruments.setting import Setting
from harness.instruments.window import drive
from harness.probes import free_lists, trace
from harness.probes.heap import settle
from harness.spec import TRACE

if TYPE_CHECKING:
    import memray


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
    emptier = _Emptier(setting.outcome.target_root)

    def begin() -> None:
        _enter(tracker)
        emptier.active = True
        sys.settrace(emptier)
        trace.mark()

    def end() -> None:
        sys.settrace(None)
        emptier.active = False
        tracker.__exit__(None, None, None)

    # Threads that the backend has started before the window begins can't be traced from outside.
    threading.settrace(emptier)
    drive(setting, begin, trace.mark, end)


def _enter(tracker: memray.Tracker) -> None:
    """Begin to track. memray hides the frames that the thread that calls it was in, for good and
    by their number, so that this one's stacks would lack the frames that come next."""
    thread = threading.Thread(target=tracker.__enter__)
    thread.start()
    thread.join()


class _Emptier:
    """A trace function that empties free lists before each line of the backend's files."""

    def __init__(self, root: str) -> None:
        self.active = False
        self._root = root

    def __call__(self, frame: FrameType, event: str, arg: Any) -> _Emptier | None:  # noqa: ARG002
        """One event of Python's tracing: call, line, return, exception."""
        if event == "call" and not frame.f_code.co_filename.startswith(self._root):
            return None
        if self.active:
            settle()
        return self
