"""The map of a backend's arena, asked for when all is measured: to answer may take memory."""

from __future__ import annotations

from typing import Any

import msgspec

from harness.instruments.setting import Setting
from harness.quiescence import wait_quiescent
from harness.result import Arena, Region


def ask(setting: Setting) -> None:
    """Leave the map in the outcome: of one more instance, after the workload's largest frame."""
    outcome = setting.outcome
    setting.recorder.phase("measure")
    step = max(setting.steps, key=lambda step: step.width * step.height)
    backend: Any = setting.open_backend()
    backend.execute(setting.source.frame(step.last))
    backend.flush()
    wait_quiescent(setting.spec.patience_s)
    while backend.get_result() is not None:
        pass
    try:
        rows = [tuple(region) for region in backend.memory_map()]
        regions = msgspec.convert(rows, tuple[Region, ...])
    except Exception as error:  # a map that can't be had is a plot less, and no fault
        text = f"memory_map() of the backend gave no map: {type(error).__name__}: {error}"
        outcome.notes = (*outcome.notes, text)
    else:
        outcome.arena = Arena(step.width, step.height, regions) if regions else None
    backend.close()
