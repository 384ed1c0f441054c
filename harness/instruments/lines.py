"""The line instrument: which line of the backend's makes the heap grow, whoever its malloc is from.

glibc's statistics see memory that no tracer of calls does, but know no caller. So in the window
they are read at each line, and what was added since the line before is that line's. Only the
backend's own files are traced: what a library does is of the line that called it, or of the line of
the backend's that the library has called.

It is exact as long as one thread works at a time. When several do, an addition belongs to the line
whose thread was the last to come to a line.
"""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import Any

import msgspec
import psutil

from harness.instruments.setting import Setting
from harness.instruments.window import drive
from harness.spec import LINES, LineGrowth

_Place = tuple[CodeType, int]


def run(setting: Setting) -> None:
    """Write what each line added to the heap in the window to LINES."""
    meter = _Meter(setting.outcome.target_root)

    def begin() -> None:
        meter.begin()
        sys.settrace(meter)

    def end() -> None:
        sys.settrace(None)
        meter.end()
        (setting.folder / LINES).write_bytes(msgspec.json.encode(meter.lines()))

    # Threads that the backend has started before the window begins can't be traced from outside.
    threading.settrace(meter)
    drive(setting, begin, meter.mark, end)


class _Meter:
    """A trace function that reads the heap at each line of the backend's files."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._active = False
        self._place: _Place | None = None
        """the line that whatever is added next belongs to; None outside the backend"""
        self._before = 0
        self._added: dict[_Place, int] = {}

    def begin(self) -> None:
        """Begin to measure."""
        self._active = True
        self._before = _heap_bytes()

    def mark(self) -> None:
        """A step is over. What the harness does between steps is nobody's."""
        self._account(None)

    def end(self) -> None:
        """Measure no more."""
        self._active = False

    def __call__(self, frame: FrameType, event: str, arg: Any) -> _Meter | None:  # noqa: ARG002
        """One event of Python's tracing: call, line, return, exception."""
        code = frame.f_code
        if event == "call" and not code.co_filename.startswith(self._root):
            return None
        if self._active:
            self._account(self._caller(frame) if event == "return" else (code, frame.f_lineno))
        return self

    def _account(self, following: _Place | None) -> None:
        """What was added until now is the current line's; `following` becomes the current one."""
        added, place = _heap_bytes() - self._before, self._place
        if added and place:
            self._added[place] = self._added.get(place, 0) + added
        self._place = following
        # Again, so that what this has itself allocated is left out.
        self._before = _heap_bytes()

    def _caller(self, frame: FrameType) -> _Place | None:
        """The line of the backend's that execution returns to, directly or in the end."""
        caller = frame.f_back
        while caller and not caller.f_code.co_filename.startswith(self._root):
            caller = caller.f_back
        return (caller.f_code, caller.f_lineno) if caller else None

    def lines(self) -> list[LineGrowth]:
        """Lines that added or took away anything in all."""
        return [
            LineGrowth(code.co_filename, line, code.co_name, added)
            for (code, line), added in self._added.items()
            if added
        ]


def _heap_bytes() -> int:
    heap = psutil.heap_info()
    return int(heap.heap_used + heap.mmap_used)
