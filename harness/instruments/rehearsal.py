"""A first run with a backend that does nothing, to have the harness past its own first use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from backend.frame import Frame
from harness.instruments.setting import Setting

_STEPS = 2


class _Idle:
    """A backend that hands back a result for each frame, and has no memory of its own."""

    def __init__(self) -> None:
        self._ready = 0

    def execute(self, frame: Frame) -> None:
        self._ready += frame.pts >= 0

    def get_result(self) -> object | None:
        if not self._ready:
            return None
        self._ready -= 1
        return self

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def rehearse(setting: Setting, mark: Callable[[], None]) -> None:
    """Run one cycle of the first steps."""
    rehearsal = replace(setting, open_backend=_Idle, steps=setting.steps[:_STEPS])
    rehearsal.driver(mark).run_cycle(1)
    setting.recorder.cycle(0)
    setting.recorder.phase("start")
